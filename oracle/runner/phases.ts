import { messageOf } from '../../schemas/errors.ts';
import { canaryWord, plantCanaries } from '../evidence/canary.ts';
import { invocationOf, libraryOf, type Place } from '../evidence/invocation.ts';
import type { Evidence } from '../evidence/judge.ts';
import { judgeApart } from '../evidence/judge-apart.ts';
import type { Report } from '../evidence/report.ts';
import type { Command } from '../tasks/definition.ts';
import type { HiddenFile } from '../tasks/tests-hash.ts';
import type { RunJob, RunResult } from './runner.ts';

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
  /** Reads and judges what was run. @throws only when the job's signal was aborted. */
  judge(result: RunResult, reports: ReadonlyMap<string, Report>): Promise<RunResult>;
}

/** Plans a run; every one has canaries of its own. */
export function planRun({
  definition,
  hidden,
  seed,
  learns = false,
  signal,
}: Pick<RunJob, 'definition' | 'hidden' | 'seed' | 'learns' | 'signal'>): RunPlan {
  const { framework, suite_ids, expected_ids } = definition;
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
    judge: async (result, reports) => {
      const { suite, hidden } = result;
      const ids = { suite_ids, expected_ids };
      return framework
        ? judged(result, { ...ids, framework, suite, hidden, reports, word, learns }, signal)
        : result;
    },
  };
}

const shellOrProgram = (command: Command) =>
  typeof command === 'string' ? ['/bin/sh', '-c', command] : command;

/** That nothing could read it says nothing of the code: a report that is at fault is judged. */
async function judged(
  result: RunResult,
  evidence: Evidence,
  signal: AbortSignal | undefined,
): Promise<RunResult> {
  try {
    return { ...result, ...(await judgeApart(evidence, { signal })) };
  } catch (error) {
    signal?.throwIfAborted();
    return { ...result, fault: { class: 'runner_failed', message: messageOf(error) } };
  }
}
