import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

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
