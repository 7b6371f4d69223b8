/** Check of what waits for a person and goes by age: withheld content, and records that were set aside. */
import type { Log } from '../../log/log.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { type Clock, isoTime } from '../../schemas/time.ts';
import { TOPICS } from '../../schemas/topics.ts';
import { openLetters } from '../deadletter/letters.ts';
import { hasLog, type LogPlace, withLog } from '../open-log.ts';
import { type Finding, ok, warning } from './finding.ts';

const DAY_MS = 86_400_000;
/** So long before it goes it is told. */
const NOTICE_DAYS = 30;
const BATCH = 100;

/** What waits for a person in a topic. */
interface Waiting {
  topic: 'trace.quarantine' | 'deadletter';
  what: string;
  mend: string;
  /** When the log took each that it took before then, milliseconds since the epoch. */
  before: (log: Log, ms: number) => Promise<number[]>;
}

const WAITING: readonly Waiting[] = [
  {
    topic: 'trace.quarantine',
    what: 'events whose content is in quarantine',
    mend: 'Review them: flipstream quarantine list, then flipstream quarantine show <event-id>',
    before: withheldBefore,
  },
  {
    topic: 'deadletter',
    what: 'records that were set aside and not put back',
    mend: 'See why: flipstream deadletter list. Then put them back: flipstream deadletter retry',
    before: lettersBefore,
  },
];

/**
 * A warning for each of the two of which something goes within 30 days. Kafka's brokers remove without a word, so there
 * it is the only one. @returns nothing where nothing was ever recorded
 */
export async function checkReview(place: LogPlace, clock: Clock): Promise<Finding[]> {
  if (!hasLog(place)) return [];
  const found = await withLog(place, (log) => Promise.all(WAITING.map((one) => look(log, one, clock()))));
  const warnings = found.filter((finding) => finding !== null);
  return warnings.length > 0
    ? warnings
    : [ok('review', `Nothing that waits for a person goes by age within ${NOTICE_DAYS} days.`)];
}

async function look(log: Log, { topic, what, mend, before }: Waiting, now: number): Promise<Finding | null> {
  const days = TOPICS[topic].retentionDays;
  try {
    const times = await before(log, now - (days - NOTICE_DAYS) * DAY_MS);
    if (times.length === 0) return null;
    const oldest = times.reduce((earliest, time) => Math.min(earliest, time));
    const first = isoTime(oldest + days * DAY_MS).slice(0, 10);
    const message = `The log keeps ${what} for ${days} days: ${times.length} of them go soon, the first on ${first}.`;
    return warning('review', message, mend);
  } catch (error) {
    if (!(error instanceof FlipstreamError) || error.code !== 'kafka_not_allowed') throw error;
    const unseen = `Whether ${what} go by age soon was not seen: that takes READ on ${topic}.`;
    return warning('review', unseen, 'Ask as the reviewer.');
  }
}

async function withheldBefore(log: Log, ms: number): Promise<number[]> {
  const times: number[] = [];
  for (let partition = 0; partition < (await log.partitions('trace.quarantine')); partition++) {
    for (let next = 0; ; ) {
      const batch = await log.read('trace.quarantine', partition, next, BATCH);
      const old = batch.records.filter(({ timestamp }) => timestamp < ms);
      times.push(...old.filter(({ value }) => value.content !== null).map(({ timestamp }) => timestamp));
      if (old.length < batch.records.length || batch.nextOffset <= next || batch.nextOffset >= batch.end)
        break;
      next = batch.nextOffset;
    }
  }
  return times;
}

async function lettersBefore(log: Log, ms: number): Promise<number[]> {
  const waiting = (await openLetters(log)).all().filter(({ state }) => state === 'waiting');
  return waiting.map(({ at }) => Date.parse(at)).filter((time) => time < ms);
}
