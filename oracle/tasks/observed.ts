import { abnormal, type Phase, passed, type RunResult } from '../runner/runner.ts';

/** The runs of one check. */
export interface Runs {
  baseline: readonly RunResult[];
  /** Empty when the task has no reference. */
  reference: readonly RunResult[];
}

/** What a check reads off its runs: the ids that every later grade is held against. */
export interface Observed {
  /** Ids of the suite that passed in every run; null when nothing reports ids. */
  suite_ids: string[] | null;
  /** How many other ids the suite has. */
  suite_excluded: number | null;
  /** Ids of the hidden tests that passed with the reference, every time; null without ids or reference. */
  expected_ids: string[] | null;
}

type Outcomes = ReadonlyMap<string, string>;

export function observe({ baseline, reference }: Runs): Observed {
  const suites = [...baseline, ...reference].map(({ suite }) => (suite ? outcomesOf([suite]) : null));
  const hidden = reference.map((run) => outcomesOf(run.hidden));
  const suite_ids = alwaysPassed(suites);
  return {
    suite_ids,
    suite_excluded: suite_ids === null ? null : idsOf(suites).size - suite_ids.length,
    expected_ids: reference.length === 0 ? null : alwaysPassed(hidden),
  };
}

/** How each reported test ended; one that is reported twice did not pass, whatever is said of it. */
function outcomesOf(phases: readonly Phase[]): Outcomes | null {
  if (phases.length === 0 || phases.some(({ tests }) => !tests)) return null;
  const outcomes = new Map<string, string>();
  for (const { id, outcome } of phases.flatMap(({ tests }) => tests ?? []))
    outcomes.set(id, outcomes.has(id) ? 'repeated' : outcome);
  return outcomes;
}

function idsOf(runs: readonly (Outcomes | null)[]): Set<string> {
  return new Set(runs.flatMap((run) => [...(run?.keys() ?? [])]));
}

function alwaysPassed(runs: readonly (Outcomes | null)[]): string[] | null {
  if (runs.length === 0 || runs.some((run) => run === null)) return null;
  return [...idsOf(runs)].filter((id) => runs.every((run) => run?.get(id) === 'passed')).sort();
}

/** Why two runs of the same do not agree, or null. Which tests differ is in the runs' private logs. */
export function disagreement(which: string, runs: readonly RunResult[]): string | null {
  const differ = (of: (run: RunResult) => string) => new Set(runs.map(of)).size > 1;
  const said = (phases: readonly Phase[]) =>
    JSON.stringify([
      phases.map((phase) => passed(phase)),
      [...(outcomesOf(phases) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)),
    ]);
  // Of the suite, tests that differ are left out; without ids it is one thing that passes or does not.
  if (differ(({ suite }) => (suite && outcomesOf([suite]) === null ? said([suite]) : '')))
    return `two runs of the ${which} disagree about the suite: its tests are not deterministic`;
  return differ(({ hidden }) => said(hidden))
    ? `two runs of the ${which} disagree about the hidden tests: they are not deterministic`
    : null;
}

/** Ids that differ between the runs, for the person who mends the tests. */
export function differing(runs: readonly RunResult[]): string[] {
  const all = runs.map((run) => outcomesOf([...(run.suite ? [run.suite] : []), ...run.hidden]));
  return [...idsOf(all)].filter((id) => new Set(all.map((run) => run?.get(id))).size > 1).sort();
}

/** Ids of hidden tests that were skipped with the reference, and so are asked of nobody: its author should know. */
export function skippedWith(reference: readonly RunResult[]): string[] {
  const all = reference.map((run) => outcomesOf(run.hidden));
  return [...idsOf(all)].filter((id) => all.some((run) => run?.get(id) === 'skipped')).sort();
}

/** A phase of the suite with ids need not end with 0: some of its tests may always fail. */
export const suiteRan = (suite: Phase): boolean => (outcomesOf([suite]) ? !abnormal(suite) : passed(suite));
