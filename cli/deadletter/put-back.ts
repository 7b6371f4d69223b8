/** Putting a record back at the end of its topic, once, where that can do no harm. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log, Outgoing, StoredBytes } from '../../log/log.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { type Clock, isoTime } from '../../schemas/time.ts';
import { TOPICS, type TopicName } from '../../schemas/topics.ts';
import type { Unseal } from '../unseal.ts';
import { originalBytes } from './bytes.ts';
import { type Letter, type Letters, PUT_BACK } from './letters.ts';

/**
 * Who adds up a topic's records, so that one read twice would count twice; every other reader takes the same
 * record any number of times. `trace.raw` and `oracle.verdicts` have none: their readers know what they have had.
 */
const ADDS_UP: Partial<Record<TopicName, string>> = {
  'trace.events': 'sink',
  'trace.quarantine': 'sink',
  deadletter: 'sink',
  'flip.metrics.deltas': 'metrics-bucket',
};

/** Why this record must not be put back, or null. */
export function objection({ id, source_topic, groups, state, reason }: Letter): string | null {
  if (state === 'put_back') return `${id} has been put back already`;
  if (reason === 'batch_unreadable')
    return `${id} is not put back: it is a whole batch of records, as its producer packed it. Have that send them again, in a way that can be read`;
  if (TOPICS[source_topic].cleanup === 'compact')
    return `${id} is not put back: ${source_topic} keeps the last value of each key, and this one may be older. Replay makes it anew`;
  const adder = ADDS_UP[source_topic];
  if (adder && !groups.includes(adder))
    return `${id} is not put back: ${groups.join(', ')} refused it, but ${adder} took it and would count it twice. Replay makes what is missing anew`;
  return null;
}

/** Others who put back at the same time are given way so often. */
const TRIES = 20;
const PAUSE_MS = 50;

/**
 * Puts the original bytes back and records it in the same transaction, unless somebody has meanwhile.
 * @throws FlipstreamError `letter_stays` (usage), what `originalBytes` throws, and what the log throws
 */
export async function putBack(
  log: Log,
  { letters, id }: { letters: Letters; id: string },
  unseal: Unseal | null,
  clock: Clock,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    await letters.refresh();
    const letter = pick(letters, id);
    const why = objection(letter);
    if (why) throw new FlipstreamError('letter_stays', 'usage', `${why}.`);
    const value = await originalBytes(log, letter, unseal);
    const stored: StoredBytes = { topic: letter.source_topic, key: letter.key ?? '', value };
    try {
      return await log.putBack([stored], [receipt(letter, clock())], letters.endOf(letter.source_topic));
    } catch (error) {
      if (tries === TRIES || !isBeaten(error)) throw error;
      await sleep(Math.random() * PAUSE_MS * tries);
    }
  }
}

/** @throws FlipstreamError `letter_unknown` (usage) */
export function pick(letters: Letters, id: string): Letter {
  const letter = letters.get(id);
  if (letter) return letter;
  throw new FlipstreamError(
    'letter_unknown',
    'usage',
    `There is no dead letter ${id}: flipstream deadletter list --all shows them.`,
  );
}

/** Somebody else has put something back, or a new letter has come: nothing of ours was written. */
function isBeaten(error: unknown): boolean {
  return error instanceof FlipstreamError && (error.code === 'log_moved' || error.code === 'fenced');
}

function receipt(letter: Letter, at: number): Outgoing<'deadletter'> {
  const { source_topic, source_partition, source_offset, key, value_hash, value_bytes } = letter;
  return {
    topic: 'deadletter',
    key: source_topic,
    value: {
      source_topic,
      source_partition,
      source_offset,
      group: 'deadletter',
      reason: PUT_BACK,
      message: `put back into ${source_topic}; it had been set aside for ${letter.reason}`,
      key,
      value_hash,
      value_bytes,
      at: isoTime(at),
      content: null,
    },
  };
}
