import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { installed } from './docker-engine.ts';

/** Where docker-compose.yml is. */
export const PROJECT_FOLDER = fileURLToPath(new URL('../..', import.meta.url));

/** Docker compose as this machine has it: the engine's plugin, or the older program; null when it has neither. */
export function composeCommand(): { file: string; args: string[] } | null {
  const ways = [
    { file: 'docker', args: ['compose'] },
    { file: 'docker-compose', args: [] },
  ];
  return ways.find(({ file, args }) => spawnSync(file, [...args, 'version']).status === 0) ?? null;
}

/** Installs it where this machine has neither. @returns why it could not, or null. @throws where nothing may be skipped (CI). */
export function noCompose(): string | null {
  const missing = composeCommand() ? null : installed('docker-compose');
  if (missing && process.env.CI) throw new Error(`CI may not skip this: ${missing}`);
  return missing;
}
