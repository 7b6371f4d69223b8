import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { readAs } from '../../schemas/read-as.ts';
import type { Oracle } from '../oracle.ts';
import { queueTask } from '../outbox.ts';
import { define, TaskFile } from './definition.ts';
import { makeMirror } from './mirror.ts';
import { loadTask, mirrorOf, publicTask, putTaskRow, storeTask, type TaskRow } from './store.ts';
import { readHidden, testsHash } from './tests-hash.ts';

/**
 * `oracle task add`: reads `task.json` and the hidden files beside it, copies the repository's base commit and
 * ancestors into a mirror of the oracle's own, and stores the task. It is graded only after `taskCheck`.
 * @param dir directory with task.json; paths in it are relative to it.
 * @throws FlipstreamError `task_invalid` or `mirror_unusable` (usage), saying which field and why.
 */
export async function taskAdd(oracle: Oracle, dir: string): Promise<TaskRow> {
  const file = readTaskFile(join(dir, 'task.json'));
  const hiddenDir = resolve(dir, file.hidden_files);
  if (!existsSync(hiddenDir) || !statSync(hiddenDir).isDirectory())
    throw invalid(dir, `hidden_files: ${hiddenDir} is no directory`);
  const hidden = readHidden(hiddenDir);
  if (hidden.length === 0)
    throw invalid(dir, `hidden_files: ${hiddenDir} is empty; a task needs a hidden test`);
  const mirror = mirrorOf(oracle.home, file.task_id);
  const repository = await makeMirror(resolve(dir, file.mirror), file.base_commit, mirror);
  const definition = define(
    file,
    repository,
    earlierSalt(oracle, file.task_id) ?? randomBytes(16).toString('hex'),
  );
  storeTask(oracle.home, definition, hidden);
  const row: TaskRow = {
    task_id: definition.task_id,
    tests_hash: testsHash(definition, hidden),
    base_commit: definition.base_commit,
    root_commit: definition.root_commits[0] ?? '',
    status: 'unchecked',
    reason: null,
    checked_at: null,
    baseline_id: null,
    baseline_ms: 0,
  };
  oracle.db.transaction(() => {
    putTaskRow(oracle.db, row);
    queueTask(oracle.db, publicTask(row, definition));
  });
  return row;
}

/** The same task added again keeps its hash. */
function earlierSalt(oracle: Oracle, taskId: string): string | null {
  return loadTask(oracle.home, taskId)?.definition.salt ?? null;
}

function readTaskFile(path: string): TaskFile {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw invalid(path, messageOf(cause), cause);
  }
  const read = readAs(TaskFile, json);
  if (read.ok) return read.data;
  throw invalid(path, read.problem, read.cause);
}

function invalid(path: string, why: string, cause?: unknown): FlipstreamError {
  return new FlipstreamError('task_invalid', 'usage', `${path} is no task: ${why}`, cause);
}
