import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { recallSession } from './gate/session-file.ts';
import type { Home } from './home.ts';
import { readProjectConfig } from './project-config.ts';

/** The header in which a registration over HTTP sends FLIPSTREAM_OFF. */
export const OFF_HEADER = 'x-flipstream-off';

/**
 * Whether a value of FLIPSTREAM_OFF silences. White space around it says nothing, since a header cannot carry it: a
 * harness whose variable is unset sends the header empty.
 */
export function saysOff(value: string | undefined): boolean {
  const said = value?.trim() ?? '';
  return said !== '' && said !== '0';
}

/** Where a payload comes from, as far as it says. */
export interface Source {
  cwd: string | null;
  sessionId: string;
}

/**
 * Whether nothing is to be captured and nobody to be held: capture is paused, or the repository that holds `cwd`
 * opted out (`.flipstream/off`, or `"off": true` in its configuration). A session that began with a task stays
 * captured and held: its agent can write into the repository, and must not be able to switch its own gate off.
 */
export function isSilenced(home: Home, source: Source | null): boolean {
  if (existsSync(home.paused)) return true;
  if (source === null || source.cwd === null || !optedOut(source.cwd)) return false;
  return (recallSession(home, source.sessionId)?.task_id ?? null) === null;
}

function optedOut(cwd: string): boolean {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const ours = join(folder, '.flipstream');
    if (existsSync(join(ours, 'off'))) return true;
    if ((existsSync(ours) || existsSync(join(folder, '.oracle-flip'))) && readProjectConfig(folder).off)
      return true;
    if (dirname(folder) === folder) return false;
  }
}
