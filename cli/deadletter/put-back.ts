/** Putting a record back at the end of its topic, once, where that can do no harm. */
import type { Log, Outgoing, StoredBytes } from '../../log/log.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { type Clock, isoTime } from '../../schemas/time.ts';
import { TOPICS, type TopicName } from '../../schemas/topics.ts';
import { originalBytes, type Unseal } from './bytes.ts';
import { type Letter, PUT_BACK } from './letters.ts';

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
export function objection({ id, source_topic, groups, state }: Letter): string | null {
  if (state === 'put_back') return `${id} has been put back already`;
  if (TOPICS[source_topic].cleanup === 'compact')
    return `${id} is not put back: ${source_topic} keeps the last value of each key, and this one may be older. Replay makes it anew`;
  const adder = ADDS_UP[source_topic];
  if (adder && !groups.includes(adder))
    return `${id} is not put back: ${groups.join(', ')} refused it, but ${adder} took it and would count it twice. Replay makes what is missing anew`;
  return null;
}

/**
 * Puts the original bytes back and records it in the same transaction.
 * @throws FlipstreamError `letter_stays` (usage), what `originalBytes` throws, and what the log throws
 */
export async function putBack(log: Log, letter: Letter, unseal: Unseal | null, clock: Clock): Promise<void> {
  const why = objection(letter);
  if (why) throw new FlipstreamError('letter_stays', 'usage', `${why}.`);
  const value = await originalBytes(log, letter, unseal);
  const stored: StoredBytes = { topic: letter.source_topic, key: letter.key ?? '', value };
  await log.putBack([stored], [receipt(letter, clock())]);
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
