import { sha256 } from '../schemas/hash.ts';
import { isoTime } from '../schemas/time.ts';
import type { TopicName } from '../schemas/topics.ts';
import type { Outgoing } from './log.ts';
import type { Refused, Seal } from './values.ts';

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
