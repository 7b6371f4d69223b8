import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FlipstreamError } from '../schemas/errors.ts';
import { makeFolder } from '../schemas/make-folder.ts';

const BUSY = 5;

/**
 * Takes a warehouse for one compaction; the lock goes with the process, however that ends.
 * @returns gives it back; null when another compaction, in whatever process, has it.
 * @throws FlipstreamError `warehouse_write` (retryable) when it cannot be told
 */
export function lockCompaction(warehouse: string): (() => void) | null {
  makeFolder(warehouse, 0o777);
  const path = join(warehouse, '.compaction.lock');
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch (cause) {
    lock.close();
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === BUSY) return null;
    throw new FlipstreamError(
      'warehouse_write',
      'retryable',
      `${path} cannot be locked, so nothing is compacted: check the disk and who owns the folder`,
      cause,
    );
  }
  return () => lock.close();
}
