import { randomUUID } from 'node:crypto';
import { FlipstreamError } from '../../schemas/errors.ts';
import { isoTime } from '../../schemas/time.ts';
import { appendVerdict } from '../keys/chain.ts';
import type { Oracle } from '../oracle.ts';
import { queueTask } from '../outbox.ts';
import { logRun } from '../private-log.ts';
import { baselineFault, outcomeOf } from '../runner/outcome.ts';
import { passed, type RunResult } from '../runner/runner.ts';
import { ORACLE_VERSION } from '../version.ts';
import { loadTask, publicTask, putTaskRow, type StoredTask, type TaskRow } from './store.ts';

/** How often the baseline is run: a task whose answers differ is not fit for an oracle (chapter 3). */
const BASELINE_RUNS = 2;

/**
 * `oracle task check`: runs the baseline twice. Both times the suite has to pass and the hidden tests have to
 * fail; then the task is ready and its baseline is signed. Otherwise it is quarantined, with the reason.
 * @throws FlipstreamError `task_unknown` (usage); `baseline_error` (retryable) when the machine failed: the task
 * then stays as it was, since that says nothing about it.
 */
export async function taskCheck(oracle: Oracle, taskId: string): Promise<TaskRow> {
  const task = loadTask(oracle.home, taskId);
  if (!task)
    throw new FlipstreamError(
      'task_unknown',
      'usage',
      `there is no task ${taskId}; see: flipstream oracle task list`,
    );
  const runs: RunResult[] = [];
  let slowest = 0;
  for (let run = 0; run < BASELINE_RUNS; run++) {
    const started = oracle.clock();
    runs.push(await baseline(oracle, task));
    slowest = Math.max(slowest, oracle.clock() - started);
  }
  const reason = disagreement(runs) ?? runs.map(baselineFault).find((why) => why !== null) ?? null;
  return record(oracle, task, reason, Math.round(slowest));
}

async function baseline(oracle: Oracle, task: StoredTask): Promise<RunResult> {
  const run_id = randomUUID();
  const { definition, hidden, mirror, tests_hash } = task;
  const result = await oracle.runner.run({ run_id, definition, hidden, mirror, diff: null });
  const { code, reason } = outcomeOf(result);
  logRun(oracle.home, oracle.db, {
    run_id,
    kind: 'baseline',
    task_id: definition.task_id,
    principal: null,
    request_id: null,
    session_id: null,
    at: isoTime(oracle.clock()),
    code,
    reason,
    tests_hash,
    diff_hash: null,
    diff_missing: null,
    runner: oracle.runner.version,
    result,
  });
  if (code === 'ERROR')
    throw new FlipstreamError(
      'baseline_error',
      'retryable',
      `the baseline of ${definition.task_id} could not be run: ${reason}`,
    );
  return result;
}

function disagreement(runs: readonly RunResult[]): string | null {
  const shapes = runs.map((run) =>
    [run.suite, ...run.hidden].map((phase) => phase !== null && passed(phase)).join(),
  );
  return new Set(shapes).size > 1
    ? 'two runs of the baseline disagree: the tests are not deterministic'
    : null;
}

function record(oracle: Oracle, task: StoredTask, reason: string | null, baseline_ms: number): TaskRow {
  const { definition, tests_hash } = task;
  return oracle.db.transaction(() => {
    const checked_at = isoTime(oracle.clock());
    const verdict = reason === null ? signBaseline(oracle, task, checked_at) : null;
    const row: TaskRow = {
      task_id: definition.task_id,
      tests_hash,
      base_commit: definition.base_commit,
      root_commit: definition.root_commits[0] ?? '',
      status: reason === null ? 'ready' : 'quarantined',
      reason,
      checked_at,
      baseline_id: verdict,
      baseline_ms,
    };
    putTaskRow(oracle.db, row);
    queueTask(oracle.db, publicTask(row, definition));
    return row;
  });
}

/** Signed once here; each graded session gets a copy under its own key before its first verdict. */
function signBaseline(oracle: Oracle, { definition, tests_hash }: StoredTask, at: string): string {
  return appendVerdict(oracle.db, oracle.key, {
    v: 1,
    verdict_id: randomUUID(),
    request_id: null,
    requester: null,
    session_id: null,
    chain_id: null,
    head: null,
    attempt: 0,
    task_id: definition.task_id,
    task_family: definition.family,
    task_split: definition.split,
    mode: 'baseline',
    verdict: 'FAIL',
    base_commit: definition.base_commit,
    tests_hash,
    diff_hash: null,
    image: definition.image,
    runner: oracle.runner.kind,
    placement: 'same_host',
    evidence: definition.evidence,
    oracle_host: oracle.oracleHost,
    oracle_version: ORACLE_VERSION,
    released_at: at,
    cached_from: null,
    retracts: null,
  }).verdict_id;
}
