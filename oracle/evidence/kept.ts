/** What is kept of the tests that a run reports: graded code can report any number, under names of any length. */

import type { Phase, RunResult } from '../runner/runner.ts';
import type { TaskDefinition } from '../tasks/definition.ts';
import { failed, type ReportedTest } from './report.ts';

/** Of one phase so many tests are kept, and as many canaries and missing ids. */
export const KEPT_TESTS = 2000;

/** Characters of an id; of a longer one, its beginning and its length. */
const KEPT_ID = 300;
const BEGINNING = 250;

export const keptId = (id: string): string =>
  id.length <= KEPT_ID ? id : `${id.slice(0, BEGINNING)}… (${id.length} characters)`;

/** The run with what decides of its tests; one that reported no more than is kept stays as it was. */
export function keptResult<Run extends Pick<RunResult, 'suite' | 'hidden'>>(
  run: Run,
  { suite_ids, expected_ids }: Pick<TaskDefinition, 'suite_ids' | 'expected_ids'>,
): Run {
  const suite = run.suite && keptPhase(run.suite, suite_ids ?? [], idsOf([run.suite]));
  const seen = idsOf(run.hidden);
  return { ...run, suite, hidden: run.hidden.map((phase) => keptPhase(phase, expected_ids ?? [], seen)) };
}

const idsOf = (phases: readonly Phase[]): Set<string> =>
  new Set(phases.flatMap(({ tests }) => tests ?? []).map(({ id }) => id));

/** @param seen what was reported by the phases that the ids are asked of together. */
function keptPhase(phase: Phase, ids: readonly string[], seen: ReadonlySet<string>): Phase {
  const { tests, canaries } = phase;
  if (!tests) return phase;
  const all = canaries ?? [];
  const cut =
    Math.max(tests.length, all.length) <= KEPT_TESTS
      ? {}
      : {
          cut: {
            tests: tests.length,
            canaries: all.length,
            missing: ids.filter((id) => !seen.has(id)).slice(0, KEPT_TESTS),
          },
        };
  const expected = new Set(ids);
  return {
    ...phase,
    tests: keptTests(tests, (test, nth) => weight(test, nth, expected)),
    canaries: keptTests(all, ({ outcome }) => (failed(outcome) ? 1 : 0)),
    ...cut,
  };
}

/** Less comes first: expected ids that did not pass, others that did not, expected ids, the rest. */
function weight({ id, outcome }: ReportedTest, nth: number, expected: ReadonlySet<string>): number {
  // Two say that it was repeated. The rest of a thousand would only push others out.
  if (nth > 2) return 4;
  if (outcome !== 'passed' && outcome !== 'skipped') return expected.has(id) ? 0 : 1;
  if (!expected.has(id)) return 3;
  return outcome === 'skipped' || nth === 2 ? 0 : 2;
}

/** @param weigh is also told how many times the id was reported up to this one. */
function keptTests(
  tests: readonly ReportedTest[],
  weigh: (test: ReportedTest, nth: number) => number,
): ReportedTest[] {
  const short = (kept: readonly ReportedTest[]) =>
    kept.map(({ id, outcome }) => ({ id: keptId(id), outcome }));
  if (tests.length <= KEPT_TESTS) return short(tests);
  const times = new Map<string, number>();
  const weighed = Map.groupBy(tests, (test) => {
    const nth = (times.get(test.id) ?? 0) + 1;
    times.set(test.id, nth);
    return weigh(test, nth);
  });
  const sorted = [...weighed].sort(([a], [b]) => a - b).flatMap(([, group]) => group);
  return short(sorted.slice(0, KEPT_TESTS));
}
