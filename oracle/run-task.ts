import { randomUUID } from 'node:crypto';
import { isoTime } from '../schemas/time.ts';
import { keptResult } from './evidence/kept.ts';
import type { Oracle } from './oracle.ts';
import { logRun, type RunRow } from './private-log.ts';
import { outcomeOf } from './runner/outcome.ts';
import type { RunResult } from './runner/runner.ts';
import type { StoredTask } from './tasks/store.ts';

export interface RunOf {
  kind: RunRow['kind'];
  /** Null in baseline and control runs. */
  diff: Buffer | null;
  diff_hash?: string;
  /** Why the asker could build no diff. */
  diff_missing?: string | null;
  /** Who asked, for runs that somebody asked for. */
  asked?: { principal: string; request_id: string; session_id: string };
  seed?: number;
  signal?: AbortSignal;
}

/** Runs a task once and writes it into the private log, with the tests that decide. @throws what the runner throws: only on abort. */
export async function runTask(oracle: Oracle, task: StoredTask, run: RunOf): Promise<RunResult> {
  const run_id = randomUUID();
  const { definition, hidden, mirror, tests_hash } = task;
  const { kind, diff, seed, signal, asked, diff_hash = null, diff_missing = null } = run;
  const learns = kind === 'baseline' || kind === 'reference';
  const result = await oracle.runner.run({ run_id, definition, hidden, mirror, diff, seed, learns, signal });
  const { code, reason } = outcomeOf(result);
  logRun(oracle, {
    ...{ run_id, kind, code, reason, tests_hash, diff_hash, diff_missing },
    result: keptResult(result, definition),
    task_id: definition.task_id,
    principal: asked?.principal ?? null,
    request_id: asked?.request_id ?? null,
    session_id: asked?.session_id ?? null,
    at: isoTime(oracle.clock()),
    runner: oracle.runner.version,
  });
  return result;
}
