import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../files.ts';
import { keepDiff } from '../private-log.ts';
import { TaskDefinition } from '../tasks/definition.ts';
import { type StoreAt, storeTask } from '../tasks/store.ts';
import { readHidden } from '../tasks/tests-hash.ts';

/**
 * Seals what release 0.1.0 kept in the open: task.json and hidden files of each task, diffs, run logs. Each is sealed
 * before its open form goes, so a stop in between costs nothing.
 */
export function sealEarlier(at: StoreAt): void {
  const { home, sealer } = at;
  for (const taskId of readdirSync(home.store)) {
    const place = join(home.store, taskId);
    if (!existsSync(join(place, 'task.json'))) continue;
    const definition = TaskDefinition.parse(JSON.parse(readFileSync(join(place, 'task.json'), 'utf8')));
    storeTask(at, { definition, hidden: readHidden(join(place, 'hidden')), reference: null });
    rmSync(place, { recursive: true });
  }
  each(join(home.log, 'diffs'), '.patch', (hash, path) => keepDiff(at, hash, readFileSync(path)));
  each(join(home.log, 'runs'), '.json', (runId, path) => {
    const name = `${runId}.run`;
    replaceFile(join(home.log, 'runs', name), sealer.seal(name, readFileSync(path)));
  });
}

function each(dir: string, suffix: string, seal: (stem: string, path: string) => void): void {
  if (!existsSync(dir)) return;
  for (const name of readdirSync(dir).filter((name) => name.endsWith(suffix))) {
    seal(name.slice(0, -suffix.length), join(dir, name));
    rmSync(join(dir, name));
  }
}
