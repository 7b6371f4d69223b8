/** Whether hosts and brokers agree about the time: brokers stamp what they take, and records say when they were made. */
import type { Incoming, Log } from '../../log/log.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/time.ts';
import type { TopicName } from '../../schemas/topics.ts';
import { counted } from '../counted.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Beyond this, times of hosts cannot be compared. */
const APART_MS = 30_000;
/** Looked at in each partition: a transaction's own marker takes an offset, too. */
const LAST = 6;

const TOPICS = ['trace.raw', 'trace.events', 'oracle.verdicts', 'sessions'] as const satisfies TopicName[];
const MEND = 'Let all hosts follow a time server.';

/** Errors at which a topic tells nothing to this user, and says nothing about clocks. */
const UNREAD = new Set(['kafka_not_allowed', 'topic_missing', 'newer_writer', 'schema_pending']);

export async function checkClock(log: Log, clock: Clock): Promise<Finding> {
  const read: TopicName[] = [];
  let looked = 0;
  for (const topic of TOPICS) {
    try {
      for (const record of await newest(log, topic)) {
        looked++;
        const finding = judge(record, clock());
        if (finding) return finding;
      }
      read.push(topic);
    } catch (error) {
      if (!(error instanceof FlipstreamError) || !UNREAD.has(error.code)) throw error;
    }
  }
  if (read.length === 0)
    return warning(
      'clock',
      'Clocks were not compared: that takes READ on a topic.',
      `Ask as a user who may read one of ${TOPICS.join(', ')}.`,
    );
  return ok(
    'clock',
    `${counted(looked, 'record that came last tells', 'records that came last tell')} of no clocks that differ, in ${read.join(', ')}.`,
  );
}

async function newest(log: Log, topic: TopicName): Promise<Incoming[]> {
  const found: Incoming[] = [];
  for (let partition = 0; partition < (await log.partitions(topic)); partition++) {
    const { end } = await log.read(topic, partition, 0, 1);
    if (end > 0) found.push(...(await log.read(topic, partition, Math.max(0, end - LAST), LAST)).records);
  }
  return found;
}

function judge({ topic, partition, offset, timestamp, value }: Incoming, now: number): Finding | null {
  if (timestamp - now > APART_MS)
    return problem(
      'clock',
      `The brokers\u2019 clock is ${seconds(timestamp - now)} ahead of this machine\u2019s.`,
      MEND,
    );
  const made = 'ts' in value ? value.ts : 'released_at' in value ? value.released_at : null;
  const behind = made === null ? 0 : Date.parse(made) - timestamp;
  if (behind <= APART_MS) return null;
  return problem(
    'clock',
    `The brokers took ${topic}/${partition}@${offset} ${seconds(behind)} before its own host says that it was made: their clock is behind, or that host\u2019s is ahead.`,
    MEND,
  );
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
