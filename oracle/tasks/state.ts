import { FlipstreamError } from '../../schemas/errors.ts';
import { findVerdict } from '../keys/chain.ts';
import type { Oracle } from '../oracle.ts';
import { queueTask } from '../outbox.ts';
import { publicTask, putTaskRow, type TaskRow, taskRow, taskRows } from './rows.ts';
import { knownTask, type StoredTask } from './store.ts';

/**
 * `oracle task quarantine`: no grade from now on; sessions that were graded keep their verdicts.
 * @param reason published with the task.
 * @throws FlipstreamError `task_unknown` (usage).
 */
export function quarantine(oracle: Oracle, taskId: string, reason: string): TaskRow {
  return change(oracle, taskId, (row) => ({ ...row, status: 'quarantined', reason }));
}

/**
 * `oracle task release`: takes back a person's quarantine. One that a check decided ends with another check.
 * @throws FlipstreamError `task_unknown`, `task_unproven` (usage).
 */
export function release(oracle: Oracle, taskId: string): TaskRow {
  return change(oracle, taskId, (row, task) => {
    if (row.baseline_id !== null && row.tests_hash === task.tests_hash)
      return { ...row, status: 'ready', reason: null };
    throw new FlipstreamError(
      'task_unproven',
      'usage',
      `task ${taskId} has no baseline that stands; run: flipstream oracle task check ${taskId}`,
    );
  });
}

function change(oracle: Oracle, taskId: string, next: (row: TaskRow, task: StoredTask) => TaskRow): TaskRow {
  const task = knownTask(oracle, taskId);
  return oracle.db.transaction(() => {
    const row = taskRow(oracle.db, taskId);
    if (!row) throw new Error(`task ${taskId} lies in the store and has no row`);
    const changed = next(row, task);
    putTaskRow(oracle.db, changed);
    queueTask(oracle.db, publicTask(changed, task.definition, oracle.runner.kind));
    return changed;
  });
}

/**
 * Tasks whose baseline a revoked key signed after its last trusted verdict: nothing says any more that they fail.
 * @returns their ids; they are unchecked now.
 */
export function uncheckTasksOf(oracle: Oracle, keyId: string, seq: number): string[] {
  const lost = taskRows(oracle.db).filter(({ baseline_id }) => {
    const baseline = baseline_id === null ? null : findVerdict(oracle.db, baseline_id);
    return baseline?.key_id === keyId && baseline.oracle_seq > seq;
  });
  for (const { task_id } of lost)
    change(oracle, task_id, (row) => ({
      ...row,
      status: 'unchecked',
      reason: 'its baseline was signed by a key that was taken back',
      baseline_id: null,
    }));
  return lost.map(({ task_id }) => task_id);
}
