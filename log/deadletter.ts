import { sha256 } from '../schemas/hash.ts';
import { isoTime } from '../schemas/time.ts';
import type { TopicName } from '../schemas/topics.ts';
import { isTooLarge } from './encode.ts';
import type { Outgoing } from './log.ts';
import type { Encoded, Refused, Seal } from './values.ts';

/**
 * The dead letter of a record. Without a reviewer's key the bytes are left out, not written in the clear:
 * they stay in the source topic, where the letter points.
 * @param at when it was set aside, milliseconds since the epoch.
 */
export function deadLetter(
  place: { topic: TopicName; partition: number; group: string },
  { record, reason, message }: Refused,
  at: number,
  seal: Seal | undefined,
): Outgoing<'deadletter'> {
  return {
    topic: 'deadletter',
    key: place.topic,
    value: {
      source_topic: place.topic,
      source_partition: place.partition,
      source_offset: record.offset,
      group: place.group,
      reason,
      message,
      key: record.key,
      value_hash: sha256(record.value),
      value_bytes: record.value.length,
      at: isoTime(at),
      content: seal ? record.value : null,
    },
  };
}

type Encode = (records: readonly Outgoing[]) => Promise<Encoded[]>;

/**
 * Encodes a dead letter with as much of the record as fits. One that is nearly as large as the log takes leaves only
 * its hash and its length; else its letter would be refused for ever, and whatever lies behind it would wait.
 * @param encode the engine's own, which throws `record_too_large`
 */
export async function encodeLetter(letter: Outgoing<'deadletter'>, encode: Encode): Promise<Encoded[]> {
  const bare = { ...letter, value: { ...letter.value, content: null } };
  const keyless = { ...bare, value: { ...bare.value, key: null } };
  return whereItFits(letter, () => whereItFits(bare, () => encode([keyless])));

  async function whereItFits(one: typeof letter, otherwise: () => Promise<Encoded[]>): Promise<Encoded[]> {
    try {
      return await encode([one]);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      return otherwise();
    }
  }
}
