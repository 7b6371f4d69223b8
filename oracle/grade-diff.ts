import type { Oracle } from './oracle.ts';
import { type RunOf, runTask } from './run-task.ts';
import { controlFault, needsControl, type Outcome, outcomeOf } from './runner/outcome.ts';
import type { RunResult } from './runner/runner.ts';
import type { StoredTask } from './tasks/store.ts';

/** Grades a diff: one run, and where a FAIL could be the machine's fault a control run of the baseline beside it. */
export async function gradeDiff(
  oracle: Oracle,
  task: StoredTask,
  run: RunOf,
): Promise<Outcome & { result: RunResult }> {
  const result = await runTask(oracle, task, run);
  const outcome = outcomeOf(result);
  if (outcome.code !== 'FAIL' || !needsControl(result)) return { ...outcome, result };
  const control = await runTask(oracle, task, { ...run, kind: 'control', diff: null, diff_hash: undefined });
  const fault = controlFault(control);
  return fault === null
    ? { ...outcome, result }
    : { code: 'ERROR', reason: `control_failed: ${fault}`, result };
}
