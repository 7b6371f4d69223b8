import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Home } from '../../producers/home.ts';
import { ownFile } from '../../producers/own-file.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';

/**
 * Takes a home for one `flipstream up`; the lock goes with the process, however that ends.
 * @returns gives it back.
 * @throws FlipstreamError `up_running` (usage) when another one has it.
 */
export function lockUp(home: Home): () => void {
  makeFolder(home.root);
  const path = join(home.root, 'up.lock');
  ownFile(path);
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch (cause) {
    lock.close();
    const message = `flipstream up already runs for ${home.root}: stop it first, or name another --home.`;
    throw new FlipstreamError('up_running', 'usage', message, cause);
  }
  return () => lock.close();
}
