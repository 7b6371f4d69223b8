import { join } from 'node:path';
import type { Home } from '../../producers/home.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { holdFile } from '../../schemas/hold-file.ts';
import { makeFolder } from '../../schemas/make-folder.ts';

/**
 * Takes a home for one `flipstream up`; the lock goes with the process, however that ends.
 * @returns gives it back.
 * @throws FlipstreamError `up_running` (usage) when another one has it, `lock_unusable` (usage)
 */
export function lockUp(home: Home): () => void {
  makeFolder(home.root);
  const held = holdFile(join(home.root, 'up.lock'));
  if (held !== 'busy') return held;
  const message = `flipstream up already runs for ${home.root}: stop it first, or name another --home.`;
  throw new FlipstreamError('up_running', 'usage', message);
}
