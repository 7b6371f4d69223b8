import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Home } from './home.ts';
import { readProjectConfig } from './project-config.ts';

/**
 * Whether nothing is to be captured and nobody to be held: capture is paused, or the repository that holds `cwd`
 * opted out (`.flipstream/off`, or `"off": true` in its configuration).
 */
export function isSilenced(home: Home, cwd: string | null): boolean {
  if (existsSync(home.paused)) return true;
  if (cwd === null) return false;
  for (let folder = cwd; ; folder = dirname(folder)) {
    const ours = join(folder, '.flipstream');
    if (existsSync(join(ours, 'off'))) return true;
    if ((existsSync(ours) || existsSync(join(folder, '.oracle-flip'))) && readProjectConfig(folder).off)
      return true;
    if (dirname(folder) === folder) return false;
  }
}
