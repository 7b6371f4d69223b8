import type { Oracle } from './oracle.ts';
import { type RunOf, runTask } from './run-task.ts';
import { controlFault, needsControl, type Outcome, outcomeOf } from './runner/outcome.ts';
import type { RunResult } from './runner/runner.ts';
import { runSignals, type SignalResult } from './signals/run-signals.ts';
import { taskRow } from './tasks/rows.ts';
import type { StoredTask } from './tasks/store.ts';

export interface Graded extends Outcome {
  result: RunResult;
  signals: SignalResult[];
}

/**
 * Grades a diff: one run, and where a FAIL could be the machine's fault a control run of the baseline beside it; then
 * what the task wants recorded of it.
 */
export async function gradeDiff(oracle: Oracle, task: StoredTask, run: RunOf): Promise<Graded> {
  const result = await runTask(oracle, task, run);
  const outcome = await withControl(oracle, task, run, result);
  const runs = outcome.code !== 'ERROR' && result.refused === null;
  const signals = runs ? await runSignals(oracle, task, run) : [];
  return { ...decided(outcome, signals), result, signals };
}

async function withControl(
  oracle: Oracle,
  task: StoredTask,
  run: RunOf,
  result: RunResult,
): Promise<Outcome> {
  const outcome = outcomeOf(result);
  if (outcome.code !== 'FAIL' || !needsControl(result)) return outcome;
  const control = await runTask(oracle, task, { ...run, kind: 'control', diff: null, diff_hash: undefined });
  const fault = controlFault(control, taskRow(oracle.db, task.definition.task_id)?.hangs === 1);
  return fault === null ? outcome : { code: 'ERROR', reason: `control_failed: ${fault}` };
}

/** A signal decides only where its task says so, and never makes a PASS. */
function decided(outcome: Outcome, signals: readonly SignalResult[]): Outcome {
  if (outcome.code !== 'PASS') return outcome;
  const deciding = signals.filter(({ decides }) => decides);
  const unsaid = deciding.find(({ passed }) => passed === null);
  if (unsaid) return { code: 'ERROR', reason: `signal_failed: ${unsaid.name} could not be run` };
  const against = deciding.find(({ passed }) => passed === false);
  return against ? { code: 'FAIL', reason: `the signal ${against.name} decides, and did not pass` } : outcome;
}
