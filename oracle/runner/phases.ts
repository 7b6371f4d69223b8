import { canaryWord, plantCanaries } from '../evidence/canary.ts';
import { invocationOf, libraryOf, type Place } from '../evidence/invocation.ts';
import { evidenceFault, judgeHidden, judgeSuite, readPhase } from '../evidence/judge.ts';
import type { Report } from '../evidence/report.ts';
import type { Command, TaskDefinition } from '../tasks/definition.ts';
import type { HiddenFile } from '../tasks/tests-hash.ts';
import type { Phase, RunJob, RunResult } from './runner.ts';

/** What one run starts, one after another, whichever runner it is. */
export interface PlannedPhase {
  name: string;
  hidden: boolean;
  /** The program and its arguments; prints the report to stdout when there is a framework. */
  start(place: Place): { argv: string[]; env: Record<string, string> };
}

export interface RunPlan {
  phases: PlannedPhase[];
  /** The hidden files with this run's canaries in them. */
  hidden: readonly HiddenFile[];
  /** Our own programs, by name. */
  library: Record<string, string>;
  /** Whether stdout is a report. */
  reports: boolean;
  /** Reads and judges what was run. */
  judge(result: RunResult, reports: ReadonlyMap<string, Report>): RunResult;
}

/** Plans a run; every one has canaries of its own. */
export function planRun({
  definition,
  hidden,
  seed,
}: Pick<RunJob, 'definition' | 'hidden' | 'seed'>): RunPlan {
  const { framework } = definition;
  const word = canaryWord();
  const phase = (name: string, target: Command, isHidden: boolean): PlannedPhase => ({
    name,
    hidden: isHidden,
    start: (place) =>
      framework ? invocationOf(framework, target, place, seed) : { argv: shellOrProgram(target), env: {} },
  });
  return {
    phases: [
      phase('suite', definition.suite, false),
      ...definition.hidden.map((target, at) => phase(`hidden ${at + 1}`, target, true)),
    ],
    hidden: framework ? plantCanaries(framework, hidden, definition.hidden, word) : hidden,
    library: framework ? libraryOf(framework) : {},
    reports: framework !== null,
    judge: (result, reports) => (framework ? judged(result, definition, framework, reports, word) : result),
  };
}

const shellOrProgram = (command: Command) =>
  typeof command === 'string' ? ['/bin/sh', '-c', command] : command;

function judged(
  result: RunResult,
  { suite_ids, expected_ids }: TaskDefinition,
  framework: NonNullable<TaskDefinition['framework']>,
  reports: ReadonlyMap<string, Report>,
  word: string,
): RunResult {
  const read = (phase: Phase, canary: string | null) =>
    readPhase(phase, framework, reports.get(phase.name) ?? { text: '', tree: '' }, canary);
  const hidden = judgeHidden(
    result.hidden.map((phase) => read(phase, word)),
    framework,
    expected_ids,
  );
  const suite = result.suite && judgeSuite(read(result.suite, null), suite_ids);
  return { ...result, suite, hidden, evidence_fault: evidenceFault(hidden) };
}
