import { abnormal, type Phase, passed, type RunResult } from '../runner/runner.ts';
import { disagreement, observe, type Runs, suiteRan } from './observed.ts';
import { wrongReason } from './wrong-reason.ts';

/** What a check finds wrong. `acceptable`: a person who has read the failure may accept it. */
export interface Objection {
  /** Published with the task: names no test, no file and nothing else that is hidden. */
  reason: string;
  /** What a person needs to mend it; never leaves the oracle's side. */
  detail?: string;
  acceptable: boolean;
}

/**
 * What speaks against grading a task, from the runs of a check alone; the worst first, null when nothing does.
 */
export function objection(runs: Runs): Objection | null {
  const reason =
    disagreement('baseline', runs.baseline) ??
    first(runs.baseline, baselineFault) ??
    disagreement('reference', runs.reference) ??
    first(runs.reference, referenceFault);
  if (reason !== null) return { reason, acceptable: false };
  const { suite_ids, expected_ids } = observe(runs);
  if (expected_ids?.length === 0)
    return { reason: 'no hidden test passed every time with the reference', acceptable: false };
  if (runs.baseline.some(hangs))
    return {
      reason:
        'the hidden tests exceed their time at the base commit, as they would on a machine that is too slow',
      acceptable: true,
    };
  const wrong = first(runs.baseline, wrongReason);
  if (wrong !== null)
    return {
      reason: `the hidden tests fail at the base commit with ${wrong}, which an agent could mend without doing the work`,
      acceptable: true,
    };
  return suite_ids?.length === 0
    ? {
        reason: 'no test of the existing suite passed every time: nothing guards what works',
        acceptable: true,
      }
    : null;
}

function first(runs: readonly RunResult[], fault: (run: RunResult) => string | null): string | null {
  return runs.map(fault).find((why) => why !== null) ?? null;
}

/** A hidden test hangs, which may be the very fault that a task is about. */
export const hangs = (run: RunResult): boolean => run.hidden.some(({ timed_out }) => timed_out);

/** The suite passes, and the hidden tests run and fail (chapter 3). */
function baselineFault(run: RunResult): string | null {
  if (!run.suite || !suiteRan(run.suite)) return 'the existing suite does not pass at the base commit';
  if (run.hidden.some((phase) => abnormal(phase) && !phase.timed_out))
    return 'the hidden tests do not run at the base commit: their program ends abnormally or is missing';
  return run.hidden.every(passedWhole)
    ? 'the hidden tests pass at the base commit: there is nothing to do'
    : null;
}

/** At the base a test may be skipped just because what it asks for is not there yet. */
const passedWhole = (phase: Phase) =>
  passed(phase) && (phase.tests ?? []).every(({ outcome }) => outcome === 'passed');

function referenceFault(run: RunResult): string | null {
  if (run.refused !== null) return 'the reference cannot be applied to the base commit';
  if (run.evidence_fault)
    return 'a canary of the hidden tests passes with the reference, so that it guards nothing';
  if (!run.suite || !suiteRan(run.suite)) return 'the existing suite does not pass with the reference';
  return run.hidden.every(passed) ? null : 'the hidden tests do not pass with the reference';
}
