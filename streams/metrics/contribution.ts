import { canonical } from '../../schemas/canonical.ts';
import type { FlipMetricDelta, Session } from '../../schemas/generated.ts';

const DIMENSIONS = ['day', 'repo', 'harness', 'model', 'task_family'] as const;
export const COUNTS = [
  'sessions',
  'graded',
  'flipped',
  'no_flip',
  'attempts',
  'oracle_errors',
  'withheld',
  'gaps',
] as const;

/** What one session adds to its bucket. Dimensions never name a person (book, chapter 16). */
export function contributionOf(session: Session): FlipMetricDelta {
  const { repo, harness, model, task_family, task_id, outcome, attempts, oracle_errors, withheld, gaps } =
    session;
  // Verdicts may come before the first event: the day is not known yet.
  const day = session.started_at?.slice(0, 10) ?? 'unknown';
  const dimensions = { day, repo, harness, model, task_family };
  return {
    bucket: canonical(DIMENSIONS.map((name) => dimensions[name])),
    ...dimensions,
    sessions: 1,
    graded: attempts > 0 ? 1 : 0,
    flipped: outcome === 'flipped' ? 1 : 0,
    no_flip: outcome === 'no_flip' ? 1 : 0,
    attempts,
    oracle_errors,
    withheld,
    gaps,
    with_task: task_id === null ? 0 : 1,
  };
}

/** `a + sign · b`, count by count, with the dimensions of `a`. */
export function plus(a: FlipMetricDelta, b: FlipMetricDelta, sign: 1 | -1 = 1): FlipMetricDelta {
  const sum = { ...a, with_task: known(a, b, (x, y) => x + sign * y) };
  for (const name of COUNTS) sum[name] = a[name] + sign * b[name];
  return sum;
}

/** The same contribution taken away. */
export function negated(a: FlipMetricDelta): FlipMetricDelta {
  const taken = { ...a, with_task: known(a, a, (x) => 0 - x) };
  // 0 - n: minus zero is another number in JSON and Avro.
  for (const name of COUNTS) taken[name] = 0 - a[name];
  return taken;
}

/** Whether it changes no count. */
export function isNothing(a: FlipMetricDelta): boolean {
  return COUNTS.every((name) => a[name] === 0) && (a.with_task ?? 0) === 0;
}

/** What a release before it did not count is not known, and no sum with it is: a state of that time has no such field. */
function known(
  a: FlipMetricDelta,
  b: FlipMetricDelta,
  make: (x: number, y: number) => number,
): number | null {
  const [x, y] = [a.with_task ?? null, b.with_task ?? null];
  return x === null || y === null ? null : make(x, y);
}
