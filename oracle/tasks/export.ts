import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FlipstreamError } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import type { Oracle } from '../oracle.ts';
import { bundleOf } from './mirror.ts';
import { taskRow } from './rows.ts';
import { knownTask } from './store.ts';

/**
 * `oracle task export`: what may be given away of a task: task.json without anything hidden, and the repository as
 * a git bundle. Left out are hidden tests and commands, signals, reference, expected ids, and the salt of their hash.
 * @throws FlipstreamError `task_unknown`, `export_exists` (usage).
 */
export async function exportTask(oracle: Oracle, taskId: string, dir: string): Promise<string[]> {
  const { definition, tests_hash, mirror } = knownTask(oracle, taskId);
  if (existsSync(dir))
    throw new FlipstreamError('export_exists', 'usage', `${dir} is there already: name another folder`);
  const { hidden: _, signals: __, expected_ids: ___, salt: ____, program: _____, ...open } = definition;
  const status = taskRow(oracle.db, taskId)?.status ?? 'unchecked';
  const files: [string, string | Buffer][] = [
    ['task.json', `${JSON.stringify({ ...open, tests_hash, status }, null, 2)}\n`],
    ['base.bundle', await bundleOf(mirror)],
  ];
  makeFolder(dir, 0o777);
  for (const [name, content] of files) writeFileSync(join(dir, name), content);
  return files.map(([name]) => join(dir, name));
}
