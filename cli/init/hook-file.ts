import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Home } from '../../producers/home.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';

/**
 * Copies the bundled hook into the home directory, where no cache is cleared and no checkout moves; replaced at
 * once, since a session may be running it.
 * @returns whether anything changed.
 * @throws FlipstreamError `hook_missing` (fatal) when this installation carries none.
 */
export function installHook(home: Home, bundled: string): boolean {
  if (!existsSync(bundled))
    throw new FlipstreamError(
      'hook_missing',
      'fatal',
      `There is no hook at ${bundled}: in a checkout run npm run generate, otherwise install flipstream again.`,
    );
  if (existsSync(home.hook) && readFileSync(home.hook).equals(readFileSync(bundled))) return false;
  makeFolder(dirname(home.hook));
  const fresh = `${home.hook}.${process.pid}`;
  copyFileSync(bundled, fresh);
  renameSync(fresh, home.hook);
  return true;
}
