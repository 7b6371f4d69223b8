import { join } from 'node:path';
import { holdFile } from '../schemas/hold-file.ts';
import { makeFolder } from '../schemas/make-folder.ts';

/**
 * Takes a warehouse for one compaction; the lock goes with the process, however that ends.
 * @returns gives it back; null when another compaction, in whatever process, has it.
 * @throws FlipstreamError `lock_unusable` (usage) when it cannot be told
 */
export function lockCompaction(warehouse: string): (() => void) | null {
  makeFolder(warehouse, 0o777);
  const held = holdFile(join(warehouse, '.compaction.lock'));
  return held === 'busy' ? null : held;
}
