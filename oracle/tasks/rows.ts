import { z } from 'zod';
import type { Task } from '../../schemas/generated.ts';
import type { OracleDb } from '../db.ts';
import type { TaskDefinition } from './definition.ts';
import { loadTask, type StoreAt, type StoredTask } from './store.ts';

/** Whether a task may be graded, and why not: what changes of it without another hash. */
export const TaskRow = z.object({
  task_id: z.string(),
  tests_hash: z.string(),
  base_commit: z.string(),
  root_commit: z.string(),
  status: z.enum(['ready', 'quarantined', 'unchecked']),
  /** Published with the task: names no test and no cause that an agent could use. */
  reason: z.string().nullable(),
  checked_at: z.string().nullable(),
  baseline_id: z.string().nullable(),
  /** How long the slower of the baseline's runs took: no FAIL leaves sooner than that says (grader.ts). */
  baseline_ms: z.number().int(),
  /** Why its author accepts what `task check` would refuse; not published. */
  accepted: z.string().nullable(),
  /** 1: the hidden tests exceed their time at the base commit, which its author accepts. */
  hangs: z.number().int().nullable(),
  /** Tests of the suite that did not pass every time, and so are left out. */
  suite_excluded: z.number().int().nullable(),
  /** 1: the reference was seen to pass. */
  reference_passed: z.number().int().nullable(),
});
export type TaskRow = z.infer<typeof TaskRow>;

/** The row of a task that was just stored, or whose check no longer stands. */
export function uncheckedRow({
  definition,
  tests_hash,
}: Pick<StoredTask, 'definition' | 'tests_hash'>): TaskRow {
  return {
    task_id: definition.task_id,
    tests_hash,
    base_commit: definition.base_commit,
    root_commit: definition.root_commits[0] ?? '',
    status: 'unchecked',
    reason: null,
    checked_at: null,
    baseline_id: null,
    baseline_ms: 0,
    accepted: null,
    hangs: null,
    suite_excluded: null,
    reference_passed: null,
  };
}

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
  const columns = Object.keys(TaskRow.shape);
  const values = columns.map((column) => `:${column}`);
  db.sql
    .prepare(`insert or replace into tasks (${columns.join(', ')}) values (${values.join(', ')})`)
    .run({ ...row });
}

/** What may be known of a task outside the oracle. */
export function publicTask(row: TaskRow, definition: TaskDefinition, runner: string): Task {
  const { baseline_id: _id, baseline_ms: _ms, hangs: _hangs, accepted, reference_passed, ...known } = row;
  const { image, family, split, framework, evidence } = definition;
  return {
    ...known,
    ...{ image, family, split, framework, evidence, runner },
    accepted: row.status === 'unchecked' ? null : accepted !== null,
    reference_passed: reference_passed === null ? null : reference_passed === 1,
  };
}

/**
 * The task if it may be graded now: its baseline stands and nothing of it was changed since.
 * A changed hidden test makes another `tests_hash`, which has no baseline until it is checked again. One for
 * containers that an earlier release found ready by exit codes alone is ready no more: an absent test would pass.
 */
export function readyTask(
  at: StoreAt & { db: OracleDb },
  taskId: string,
): (StoredTask & { row: TaskRow }) | null {
  const row = taskRow(at.db, taskId);
  if (row?.status !== 'ready') return null;
  const task = loadTask(at, taskId);
  if (!task || (task.definition.image !== null && task.definition.expected_ids === null)) return null;
  return task.tests_hash === row.tests_hash ? { ...task, row } : null;
}
