import { FlipstreamError } from '../schemas/errors.ts';
import type { TopicName } from '../schemas/topics.ts';

/** A reducer cannot go on: what it had not processed is gone. */
export function recordsLost(
  group: string,
  topic: TopicName,
  partition: number,
  from: number,
  earliest: number,
): FlipstreamError {
  return new FlipstreamError(
    'records_lost',
    'fatal',
    `${group}: ${topic}/${partition} lost the offsets ${from} to ${earliest - 1} to retention before they were ` +
      'processed: replay them from the archive',
  );
}
