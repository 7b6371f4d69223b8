import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { readJsonAs } from '../../schemas/read-as.ts';
import type { Oracle } from '../oracle.ts';
import { queueTask } from '../outbox.ts';
import type { RunnerKind } from '../runner/runner.ts';
import { define, TaskFile } from './definition.ts';
import { makeMirror } from './mirror.ts';
import { publicTask, putTaskRow, type TaskRow, uncheckedRow } from './rows.ts';
import { loadTask, mirrorOf, storeTask } from './store.ts';
import { type HiddenFile, readHidden, testsHash } from './tests-hash.ts';

/**
 * `oracle task add`: reads `task.json` and what it names, copies the repository's base commit and ancestors into a
 * mirror of the oracle's own, and stores the task, sealed. It is graded only after `taskCheck`.
 * @param dir directory with task.json; paths in it are relative to it.
 * @throws FlipstreamError `task_invalid` or `mirror_unusable` (usage), saying which field and why.
 */
export async function taskAdd(oracle: Oracle, dir: string): Promise<TaskRow> {
  const path = join(dir, 'task.json');
  const file = readTaskFile(path);
  const misfit = misfitOf(file, oracle.runner.kind);
  if (misfit) throw invalid(path, misfit);
  const hidden = hiddenIn(dir, file);
  const reference = file.reference === null ? null : readNamed(dir, 'reference', file.reference);
  const ids = file.expected_ids === null ? null : readNamed(dir, 'expected_ids', file.expected_ids);
  const mirror = mirrorOf(oracle.home, file.task_id);
  const repository = await makeMirror(resolve(dir, file.mirror), file.base_commit, mirror);
  const salt = loadTask(oracle, file.task_id)?.definition.salt; // the same task added again keeps its hash
  const definition = define(file, repository, salt ?? randomBytes(16).toString('hex'), ids && linesOf(ids));
  const row = uncheckedRow({ definition, tests_hash: testsHash(definition, hidden) });
  oracle.db.transaction(() => {
    storeTask(oracle, { definition, hidden, reference });
    putTaskRow(oracle.db, row);
    queueTask(oracle.db, publicTask(row, definition, oracle.runner.kind));
  });
  return row;
}

function readTaskFile(path: string): TaskFile {
  if (!existsSync(path)) throw invalid(path, 'there is no such file');
  const read = readJsonAs(TaskFile, () => readFileSync(path, 'utf8'));
  if (read.ok) return read.data;
  throw invalid(path, read.problem, read.cause);
}

/** Fields that do not go together, or not with this oracle; null when they do. */
function misfitOf(file: TaskFile, kind: RunnerKind): string | null {
  if (file.runner !== null && file.runner !== kind)
    return `runner is ${file.runner}, and this oracle's is ${kind}: add it to an oracle whose key is for ${file.runner} (flipstream oracle key init --runner ${file.runner})`;
  const contained = kind !== 'process';
  if (contained && file.image === null)
    return 'image is missing: name the image to run in, by digest (name@sha256:…) or id (sha256:…)';
  if (!contained && file.image !== null)
    return 'image is given, and the process runner of this oracle starts no container: remove it, or add the task to an oracle with the container runner';
  if (contained && file.framework === null)
    return 'framework is missing: name what reports the tests, or junit for a command that writes JUnit XML to $REPORT';
  if (file.program !== null && !contained)
    return 'program is given, and only the container runner starts one apart from the tests: remove it';
  if (file.program !== null && file.evidence !== 'out_of_process')
    return 'program is given, so evidence must be out_of_process';
  if (file.evidence === 'out_of_process' && contained && file.program === null)
    return 'program is missing: with evidence out_of_process, give the command that starts the code under test';
  return null;
}

function hiddenIn(dir: string, file: TaskFile): HiddenFile[] {
  const path = resolve(dir, file.hidden_files);
  if (!existsSync(path) || !statSync(path).isDirectory())
    throw invalid(dir, `hidden_files: ${path} is no directory`);
  const hidden = readHidden(path);
  if (hidden.length === 0) throw invalid(dir, `hidden_files: ${path} is empty; a task needs a hidden test`);
  return hidden;
}

function readNamed(dir: string, field: string, path: string): Buffer {
  try {
    return readFileSync(resolve(dir, path));
  } catch (cause) {
    throw invalid(dir, `${field}: ${messageOf(cause)}`, cause);
  }
}

function linesOf(text: Buffer): string[] {
  const lines = text.toString('utf8').split('\n');
  return [...new Set(lines.map((line) => line.trim()).filter(Boolean))].sort();
}

function invalid(path: string, why: string, cause?: unknown): FlipstreamError {
  return new FlipstreamError('task_invalid', 'usage', `${path} is no task: ${why}`, cause);
}
