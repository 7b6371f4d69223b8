import type { Phase, RunResult } from '../runner/runner.ts';
import type { Framework } from '../tasks/definition.ts';
import { readerOf, saysFailed } from './invocation.ts';
import { keptId, keptResult } from './kept.ts';
import { failed, type Report, type ReportedTest } from './report.ts';

/** All that it takes to judge a run: only data, so that another process can do it. */
export interface Evidence {
  framework: Framework;
  suite: Phase | null;
  hidden: readonly Phase[];
  /** By the names of the phases. */
  reports: ReadonlyMap<string, Report>;
  /** The run's canary word. */
  word: string;
  suite_ids: string[] | null;
  expected_ids: string[] | null;
  /** Whether every test is told, however many were reported. */
  learns: boolean;
}

export type Judged = Pick<RunResult, 'suite' | 'hidden' | 'evidence_fault'>;

/** Reads and judges the phases of one run. */
export function judgeRun(evidence: Evidence): Judged {
  const { framework, reports, word, suite_ids, expected_ids, learns } = evidence;
  const read = (phase: Phase, canary: string | null) =>
    readPhase(phase, framework, reports.get(phase.name) ?? { text: '', tree: '' }, canary);
  const hidden = judgeHidden(
    evidence.hidden.map((phase) => read(phase, word)),
    framework,
    expected_ids,
  );
  const suite = evidence.suite && judgeSuite(read(evidence.suite, null), suite_ids);
  const judged = { suite, hidden, evidence_fault: evidenceFault(hidden) };
  return learns ? judged : keptResult(judged, evidence);
}

/** Judges a run none of whose reports can be read. */
export const judgeUnread = (evidence: Evidence): Judged => judgeRun({ ...evidence, reports: new Map() });

/** Reads a phase's report into it. @param word the run's canary word; null in the suite, which has none. */
export function readPhase(phase: Phase, framework: Framework, report: Report, word: string | null): Phase {
  const reported = readOrNull(framework, report);
  const isCanary = ({ id }: ReportedTest) => word !== null && id.includes(word);
  return {
    ...phase,
    tests: reported?.filter((test) => !isCanary(test)) ?? null,
    canaries: reported?.filter(isCanary) ?? [],
  };
}

/** What a reader cannot cope with, such as nesting that exhausts the stack, is no report that can be read. */
function readOrNull(framework: Framework, { text, tree }: Report): ReportedTest[] | null {
  try {
    return readerOf(framework)(text, tree);
  } catch {
    return null;
  }
}

/**
 * The suite passes when every id that it has to report was reported once, as passed.
 * @param ids null before a check has found them: then nothing may fail, and something must pass.
 */
export function judgeSuite(phase: Phase, ids: readonly string[] | null): Phase {
  return { ...phase, verdict: verdict(whyNotSuite(phase, ids)) };
}

function whyNotSuite({ tests, exit }: Phase, ids: readonly string[] | null): string | null {
  if (!tests) return 'left no report that can be read';
  if (ids) return whyNotIds(tests, ids);
  if (exit !== 0) return `ended with ${exit}`;
  const bad = tests.find(({ outcome }) => outcome !== 'passed' && outcome !== 'skipped');
  if (bad) return `${keptId(bad.id)} ${bad.outcome}`;
  return tests.some(({ outcome }) => outcome === 'passed') ? null : 'no test passed';
}

/**
 * Hidden tests pass when every expected id was reported once, as passed, and in each process canaries were reported,
 * all of them as failed. A skipped, absent, renamed, repeated or expected-to-fail test is no pass.
 * @param ids null before a check has found them: then none may fail, and one must pass.
 */
export function judgeHidden(
  phases: readonly Phase[],
  framework: Framework,
  ids: readonly string[] | null,
): Phase[] {
  const missing =
    ids &&
    whyNotIds(
      phases.flatMap(({ tests }) => tests ?? []),
      ids,
    );
  return phases.map((phase, at) => {
    const why = whyNotHidden(phase, framework, ids !== null) ?? (at === phases.length - 1 ? missing : null);
    return { ...phase, verdict: verdict(why) };
  });
}

function whyNotHidden(phase: Phase, framework: Framework, idsKnown: boolean): string | null {
  const { tests, canaries = [], exit } = phase;
  if (!tests) return 'left no report that can be read';
  if (canaries.length === 0) return 'reported no canary';
  const alive = canaries.find(({ outcome }) => !failed(outcome));
  if (alive) return `reported a canary as ${alive.outcome}`;
  if (!saysFailed(framework, exit)) return `reported failed canaries and ended with ${exit}`;
  if (idsKnown) return null;
  // Not for this platform: a check asks for what the reference passes, and tells what it skips.
  const bad = tests.find(({ outcome }) => outcome !== 'passed' && outcome !== 'skipped');
  if (bad) return `${keptId(bad.id)} ${bad.outcome}`;
  if (tests.length === 0) return 'reported no test but canaries';
  return tests.some(({ outcome }) => outcome === 'passed') ? null : 'skipped every test';
}

function whyNotIds(tests: readonly ReportedTest[], ids: readonly string[]): string | null {
  const seen = Map.groupBy(tests, ({ id }) => id);
  if (ids.length === 0) return 'no test is expected';
  for (const id of ids) {
    const [one, ...more] = seen.get(id) ?? [];
    if (!one) return `${id} was not reported`;
    if (more.length > 0) return `${id} was reported ${more.length + 1} times`;
    if (one.outcome !== 'passed') return `${id} ${one.outcome}`;
  }
  return null;
}

const verdict = (why: string | null): Phase['verdict'] => ({ passed: why === null, why: why ?? 'passed' });

/**
 * What makes a run's evidence worthless whatever its tests say: a canary that did not fail. For whoever checks a task:
 * with the reference fix, too, every canary has to fail.
 */
export function evidenceFault(phases: readonly Phase[]): string | null {
  for (const { name, tests, canaries = [] } of phases) {
    const alive = canaries.find(({ outcome }) => !failed(outcome));
    if (alive)
      return `${name}: the canary ${keptId(alive.id)} was reported as ${alive.outcome}; it has to fail`;
    if (tests && canaries.length === 0)
      return `${name}: no canary was reported; each hidden file needs a test with FLIPSTREAM_CANARY in its name that fails`;
  }
  return null;
}
