import { FlipstreamError } from '../schemas/errors.ts';
import type { PartitionEnd } from './log.ts';

/** @throws FlipstreamError `log_moved` (retryable) when the partition does not end where it did any more. */
export function checkUnmoved({ topic, partition, end }: PartitionEnd, now: number): void {
  if (now === end) return;
  throw new FlipstreamError(
    'log_moved',
    'retryable',
    `${topic}/${partition} ended at ${end} when it was read, and ends at ${now}: nothing was written; look again`,
  );
}
