import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { messageOf } from '../../schemas/errors.ts';
import { sha256 } from '../../schemas/hash.ts';
import { isoTime } from '../../schemas/time.ts';
import type { Oracle } from '../oracle.ts';
import { logRun, readDiff } from '../private-log.ts';
import { controlFault, needsControl, type Outcome, outcomeOf } from '../runner/outcome.ts';
import type { RunResult } from '../runner/runner.ts';
import { readyTask, type StoredTask, taskRow } from '../tasks/store.ts';
import { verdictIdOf } from './release.ts';
import { factsOf, type RequestRow } from './requests.ts';

/** How a request ended, before it has a release time. */
export interface Found extends Outcome {
  cached_from: string | null;
  /** A copied answer takes as long as its original did, so that its time does not say that it is one. */
  notBefore: number;
  /** To be remembered in the same transaction. */
  cache: { key: string; run_ms: number } | null;
}

/** Finds PASS, FAIL or ERROR for one request and notes it. Rejects when `signal` was aborted: nothing is noted then. */
export type Grade = (request: RequestRow, signal: AbortSignal) => Promise<void>;

const CacheRow = z.object({
  code: z.enum(['PASS', 'FAIL']),
  principal: z.string(),
  request_id: z.string(),
  run_ms: z.number(),
  release_at: z.number(),
});

/** Everything that decides a verdict: the same key, the same answer. */
function cacheKey(oracle: Oracle, request: RequestRow): string {
  const { task_id, tests_hash, diff_hash } = request;
  const { image } = factsOf(request);
  return sha256(
    JSON.stringify([task_id, tests_hash, image, oracle.runner.kind, oracle.runner.version, diff_hash]),
  );
}

/**
 * Grades by cache, by waiting for the same question already being run, or by running it. ERROR is never
 * remembered: who waited for a run that ended so runs it again.
 */
export function createGrader(oracle: Oracle, note: (request: RequestRow, found: Found) => void): Grade {
  const running = new Map<string, Promise<void>>();

  return async function grade(request, signal) {
    const key = cacheKey(oracle, request);
    for (let other = running.get(key); other; other = running.get(key)) await other;
    signal.throwIfAborted();
    const cached = fromCache(oracle, key, request);
    if (cached) return note(request, cached);
    const { promise, resolve } = Promise.withResolvers<void>();
    running.set(key, promise);
    try {
      // Before the others go on: what they copy must be there, and must have ended before them.
      note(request, await runIt(oracle, key, request, signal));
    } finally {
      running.delete(key);
      resolve();
    }
  };
}

function fromCache(oracle: Oracle, key: string, request: RequestRow): Found | null {
  const raw = oracle.db.sql.prepare('select * from cache where cache_key = ?').get(key);
  if (!raw) return null;
  const row = CacheRow.parse(raw);
  return {
    code: row.code,
    reason: 'cached',
    cached_from: verdictIdOf(row.principal, row.request_id),
    notBefore: Math.max(row.release_at, request.received_at + row.run_ms),
    cache: null,
  };
}

async function runIt(oracle: Oracle, key: string, request: RequestRow, signal: AbortSignal): Promise<Found> {
  const started = oracle.clock();
  const outcome = await outcomeFor(oracle, request, signal);
  const ended = oracle.clock();
  const notBefore = outcome.code === 'PASS' ? ended : Math.max(ended, started + slowFail(oracle, request));
  const cache = outcome.code === 'ERROR' ? null : { key, run_ms: notBefore - started };
  return { ...outcome, cached_from: null, notBefore, cache };
}

/**
 * How long a FAIL takes at least, milliseconds: a run and a control run as slow as the baseline's, and a quarter
 * more. A diff that is refused at once, a hidden test that fails and a suite that fails (which a control run
 * follows) so leave at the same moment. Only what outlives this can be told by its time: code that hangs.
 */
function slowFail(oracle: Oracle, request: RequestRow): number {
  return Math.ceil(2.5 * (taskRow(oracle.db, request.task_id)?.baseline_ms ?? 0));
}

async function outcomeFor(oracle: Oracle, request: RequestRow, signal: AbortSignal): Promise<Outcome> {
  try {
    const task = readyTask(oracle.home, oracle.db, request.task_id);
    if (!task || task.tests_hash !== request.tests_hash)
      return { code: 'ERROR', reason: 'task_changed: the task is no longer the one that was asked for' };
    const diff = readDiff(oracle.home, request.diff_hash);
    const result = await runLogged(oracle, task, request, { kind: 'grade', diff, signal });
    const outcome = outcomeOf(result);
    if (outcome.code !== 'FAIL' || !needsControl(result)) return outcome;
    const control = await runLogged(oracle, task, request, { kind: 'control', diff: null, signal });
    const fault = controlFault(control);
    return fault === null ? outcome : { code: 'ERROR', reason: `control_failed: ${fault}` };
  } catch (error) {
    signal.throwIfAborted();
    return { code: 'ERROR', reason: `runner_failed: ${messageOf(error)}` };
  }
}

interface RunKind {
  kind: 'grade' | 'control';
  diff: Buffer | null;
  signal: AbortSignal;
}

async function runLogged(
  oracle: Oracle,
  task: StoredTask,
  request: RequestRow,
  run: RunKind,
): Promise<RunResult> {
  const run_id = randomUUID();
  const { definition, hidden, mirror, tests_hash } = task;
  const { diff, signal, kind } = run;
  const facts = factsOf(request);
  const result = await oracle.runner.run({ run_id, definition, hidden, mirror, diff, signal });
  const { code, reason } = outcomeOf(result);
  logRun(oracle.home, oracle.db, {
    run_id,
    kind,
    task_id: request.task_id,
    principal: request.principal,
    request_id: request.request_id,
    session_id: request.session_id,
    at: isoTime(oracle.clock()),
    code,
    reason,
    tests_hash,
    diff_hash: diff ? request.diff_hash : null,
    diff_missing: diff ? facts.diff_missing : null,
    runner: oracle.runner.version,
    result,
  });
  return result;
}
