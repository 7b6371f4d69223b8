import { abnormal, passed, type RunResult } from './runner.ts';

export type Outcome = { code: 'PASS' | 'FAIL' | 'ERROR'; reason: string };

/** What a run says by itself. FAIL stands only if `needsControl` is false or the control run was well. */
export function outcomeOf(run: RunResult): Outcome {
  if (run.fault) return { code: 'ERROR', reason: `${run.fault.class}: ${run.fault.message}` };
  if (run.refused !== null) return { code: 'FAIL', reason: run.refused };
  const failed = [run.suite, ...run.hidden].find((phase) => phase !== null && !passed(phase));
  if (failed) return { code: 'FAIL', reason: `${failed.name} ${describe(failed)}` };
  // Nothing ran: an absent test is no pass.
  if (!run.suite || run.hidden.length === 0) return { code: 'FAIL', reason: 'no test ran' };
  return { code: 'PASS', reason: 'suite and hidden tests passed' };
}

function describe(phase: NonNullable<RunResult['suite']>): string {
  if (phase.spawn_error !== null) return `could not be started: ${phase.spawn_error}`;
  if (phase.timed_out) return 'exceeded its time';
  if (phase.signal !== null) return `was ended by ${phase.signal}`;
  if (phase.verdict && !abnormal(phase)) return phase.verdict.why;
  return `ended with ${phase.exit}`;
}

/**
 * Whether a FAIL could be the machine's fault: the suite, which passes at the base commit, did not, or a command
 * ended abnormally. A hidden test that simply failed in a run whose suite passed is the graded code's own.
 */
export function needsControl(run: RunResult): boolean {
  if (run.fault || run.refused !== null) return false;
  if (run.low_disk || (run.suite !== null && !passed(run.suite))) return true;
  return [run.suite, ...run.hidden].some((phase) => phase !== null && abnormal(phase));
}

/**
 * Why the baseline, run again on the same runner, shows the fault too; null when the runner is well.
 * @param hangs whether the hidden tests are known to exceed their time at the base: that is no fault then.
 */
export function controlFault(control: RunResult, hangs = false): string | null {
  if (control.fault) return `${control.fault.class}: ${control.fault.message}`;
  if (!control.suite || !passed(control.suite))
    return `the suite at the base commit ${control.suite ? describe(control.suite) : 'did not run'}`;
  const broken = control.hidden.find((phase) => abnormal(phase) && !(hangs && phase.timed_out));
  return broken ? `${broken.name} at the base commit ${describe(broken)}` : null;
}
