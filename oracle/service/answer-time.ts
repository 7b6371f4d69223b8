import type { Outcome } from '../runner/outcome.ts';
import type { TaskDefinition } from '../tasks/definition.ts';
import { longestRunMs } from '../tasks/longest-run.ts';

/**
 * How long an answer takes, milliseconds, counted from when its run began.
 *
 * A task with `constant_time`: always as long as its longest run, so that time tells nothing at all of what ran.
 *
 * Else a PASS leaves when it is found, and a FAIL at least as late as a run and a control run as slow as the baseline's,
 * and a quarter more: a diff that is refused at once, a hidden test that fails and a suite that fails (which a control run
 * follows) so leave at the same moment. What takes longer, because it hangs, sleeps, or the machine is busy, leaves when
 * that has doubled often enough: it tells how often, and nothing finer. Code that sees a hidden test can so tell by
 * sleeping, for an attempt each, one of about log2(the longest run / the moment) + 1 moments
 * (docs/guides/trust.md, docs/decisions/0024-a-task-may-hold-every-answer.md).
 */
export function answerTime(
  code: Outcome['code'],
  definition: TaskDefinition,
  baselineMs: number,
  tookMs: number,
): number {
  if (definition.constant_time) return doubled(longestRunMs(definition, baselineMs), tookMs);
  // A task of an earlier release may not say how long its baseline took.
  return code === 'PASS' || baselineMs === 0 ? tookMs : doubled(Math.ceil(2.5 * baselineMs), tookMs);
}

function doubled(floorMs: number, tookMs: number): number {
  let moment = floorMs;
  while (moment < tookMs) moment *= 2;
  return moment;
}
