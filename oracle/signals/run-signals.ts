import type { Oracle } from '../oracle.ts';
import { type RunOf, runTask } from '../run-task.ts';
import { type Phase, passed, type RunResult } from '../runner/runner.ts';
import type { Signal } from '../tasks/definition.ts';
import type { StoredTask } from '../tasks/store.ts';

/** What one soft oracle of a task said of a diff. */
export interface SignalResult {
  name: string;
  kind: Signal['kind'];
  /** Null: the machine failed, so it says nothing. */
  passed: boolean | null;
  decides: boolean;
}

/**
 * Runs a task's soft oracles over a diff (chapter 4): each command in a tree of its own, its exit code the answer. A differential one runs at the base commit as well, and passes when both print the same.
 */
export async function runSignals(oracle: Oracle, task: StoredTask, run: RunOf): Promise<SignalResult[]> {
  const { signals } = task.definition;
  if (!signals || signals.length === 0) return [];
  const after = await runTask(oracle, commandsOf(task, signals), { ...run, kind: 'signal' });
  const differential = signals.filter(({ kind }) => kind === 'differential');
  const before =
    differential.length > 0 && run.diff !== null
      ? await runTask(oracle, commandsOf(task, differential), {
          ...run,
          kind: 'signal',
          diff: null,
          diff_hash: undefined,
        })
      : null;
  return signals.map((signal, at) => {
    const { name, kind, decides } = signal;
    const base =
      kind === 'differential' && before ? (before.hidden[differential.indexOf(signal)] ?? null) : undefined;
    return { name, kind, decides, passed: saidOf(after, after.hidden[at], base) };
  });
}

/**
 * The task with the signals in the place of its hidden tests: told by exit codes, without canaries. They run beside graded
 * code, which of a task whose tests run apart must not see the hidden files here either.
 */
function commandsOf(task: StoredTask, signals: readonly Signal[]): StoredTask {
  const definition = {
    ...task.definition,
    ...{ framework: null, expected_ids: null, suite_ids: null, suite: ['true'] },
    ...{ evidence: 'in_process' as const, program: null },
    hidden: signals.map(({ command }) => command),
  };
  const apart = task.definition.evidence === 'out_of_process';
  return { ...task, definition, hidden: apart ? [] : task.hidden };
}

/** @param base how it went at the base commit, null when it could not be run there; undefined where that does not matter. */
function saidOf(run: RunResult, phase: Phase | undefined, base: Phase | null | undefined): boolean | null {
  if (run.fault || !phase || base === null) return null;
  if (base === undefined) return passed(phase);
  return passed(phase) && passed(base) && phase.output === base.output;
}
