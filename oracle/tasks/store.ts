import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import type { Task } from '../../schemas/generated.ts';
import type { OracleDb } from '../db.ts';
import type { OracleHome } from '../home.ts';
import { TaskDefinition, TaskId } from './definition.ts';
import { type HiddenFile, readHidden, testsHash } from './tests-hash.ts';

/** A task as it lies in the store. */
export interface StoredTask {
  definition: TaskDefinition;
  hidden: HiddenFile[];
  tests_hash: string;
  mirror: string;
}

export const mirrorOf = (home: OracleHome, taskId: string): string => join(home.mirrors, `${taskId}.git`);

/** Puts a task into the store, whole or not at all, in place of an earlier one of its id. */
export function storeTask(home: OracleHome, definition: TaskDefinition, hidden: readonly HiddenFile[]): void {
  const place = join(home.store, definition.task_id);
  const fresh = `${place}.new`;
  const old = `${place}.old`;
  for (const path of [fresh, old]) rmSync(path, { recursive: true, force: true });
  mkdirSync(join(fresh, 'hidden'), { recursive: true, mode: 0o700 });
  writeFileSync(join(fresh, 'task.json'), `${JSON.stringify(definition, null, 2)}\n`, { mode: 0o600 });
  for (const file of hidden) {
    const path = join(fresh, 'hidden', file.path);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, file.content, { mode: file.executable ? 0o700 : 0o600 });
  }
  if (existsSync(place)) renameSync(place, old);
  renameSync(fresh, place);
  rmSync(old, { recursive: true, force: true });
}

/**
 * Reads a task and hashes it as it now is.
 * @returns null when there is none of this id.
 * @throws FlipstreamError `task_invalid` (fatal) when what lies in the store cannot be read.
 */
export function loadTask(home: OracleHome, taskId: string): StoredTask | null {
  if (!TaskId.safeParse(taskId).success) return null;
  const place = join(home.store, taskId);
  if (!existsSync(join(place, 'task.json'))) return null;
  try {
    const definition = TaskDefinition.parse(JSON.parse(readFileSync(join(place, 'task.json'), 'utf8')));
    const hidden = readHidden(join(place, 'hidden'));
    return { definition, hidden, tests_hash: testsHash(definition, hidden), mirror: mirrorOf(home, taskId) };
  } catch (cause) {
    throw new FlipstreamError(
      'task_invalid',
      'fatal',
      `task ${taskId} in ${home.store} cannot be read (${messageOf(cause)}); add it again`,
      cause,
    );
  }
}

export const TaskRow = z.object({
  task_id: z.string(),
  tests_hash: z.string(),
  base_commit: z.string(),
  root_commit: z.string(),
  status: z.enum(['ready', 'quarantined', 'unchecked']),
  reason: z.string().nullable(),
  checked_at: z.string().nullable(),
  baseline_id: z.string().nullable(),
  /** How long the slower of the baseline's runs took: no FAIL leaves sooner than that says (grader.ts). */
  baseline_ms: z.number().int(),
});
export type TaskRow = z.infer<typeof TaskRow>;

export function taskRow(db: OracleDb, taskId: string): TaskRow | null {
  const row = db.sql.prepare('select * from tasks where task_id = ?').get(taskId);
  return row ? TaskRow.parse(row) : null;
}

export function taskRows(db: OracleDb): TaskRow[] {
  return db.sql
    .prepare('select * from tasks order by task_id')
    .all()
    .map((row) => TaskRow.parse(row));
}

/** Inside a transaction, together with the outbox row that publishes it. */
export function putTaskRow(db: OracleDb, row: TaskRow): void {
  db.sql
    .prepare(
      `insert or replace into tasks
         (task_id, tests_hash, base_commit, root_commit, status, reason, checked_at, baseline_id,
          baseline_ms)
       values (:task_id, :tests_hash, :base_commit, :root_commit, :status, :reason, :checked_at, :baseline_id,
         :baseline_ms)`,
    )
    .run({ ...row });
}

/** What may be known of a task outside the oracle. */
export function publicTask(row: TaskRow, definition: TaskDefinition): Task {
  const { baseline_id: _id, baseline_ms: _ms, ...known } = row;
  return { ...known, image: definition.image, family: definition.family, split: definition.split };
}

/**
 * The task if it may be graded now: its baseline stands and nothing of it was changed since.
 * A changed hidden test makes another `tests_hash`, which has no baseline until it is checked again.
 */
export function readyTask(
  home: OracleHome,
  db: OracleDb,
  taskId: string,
): (StoredTask & { row: TaskRow }) | null {
  const row = taskRow(db, taskId);
  if (row?.status !== 'ready') return null;
  const task = loadTask(home, taskId);
  return task && task.tests_hash === row.tests_hash ? { ...task, row } : null;
}
