import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { FlipstreamError } from '../schemas/errors.ts';

/**
 * A place to write to: free, or for a folder an empty one, in a folder that is there; a typing error makes none.
 * @throws FlipstreamError `out_exists`, `out_nowhere` (usage)
 */
export function requireFree(path: string, wanted: 'file' | 'folder'): void {
  if (!existsSync(dirname(path)))
    throw new FlipstreamError(
      'out_nowhere',
      'usage',
      `There is no folder ${dirname(path)}: make it, or name another place with --out.`,
    );
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !(wanted === 'folder' && found.isDirectory() && readdirSync(path).length === 0))
    throw new FlipstreamError(
      'out_exists',
      'usage',
      `${path} is there already: name another place with --out.`,
    );
}
