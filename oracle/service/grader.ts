import { messageOf } from '../../schemas/errors.ts';
import { gradeDiff } from '../grade-diff.ts';
import type { Oracle } from '../oracle.ts';
import { readDiff } from '../private-log.ts';
import type { Outcome } from '../runner/outcome.ts';
import type { SignalResult } from '../signals/run-signals.ts';
import { signalsOf } from '../signals/store.ts';
import { readyTask } from '../tasks/rows.ts';
import { answerTime } from './answer-time.ts';
import { cacheKey, findCached } from './cache.ts';
import { verdictIdOf } from './release.ts';
import { factsOf, type RequestRow } from './requests.ts';
import type { Timers } from './timers.ts';

/** How a request ended, before it has a release time. */
export interface Found extends Outcome {
  signals: readonly SignalResult[];
  cached_from: string | null;
  /** A copied answer takes as long as its original did, so that its time does not say that it is one. */
  notBefore: number;
  /** Until then nothing else begins in its place: else who waits there would read off it when this one ended. */
  keepsPlace: boolean;
  /** To be remembered in the same transaction. */
  cache: { key: string; run_ms: number } | null;
}

/** Finds PASS, FAIL or ERROR for one request and notes it. Rejects when `signal` was aborted: nothing is noted then. */
export type Grade = (request: RequestRow, signal: AbortSignal) => Promise<void>;

/** What the machine failed at is tried again after these waits, milliseconds, and then is ERROR. */
const RETRY_MS: readonly number[] = [1000, 5000];

export interface GraderOptions {
  timers: Timers;
  retryMs?: readonly number[];
}

/**
 * Grades by cache, by waiting for the same question already being run, or by running it. ERROR is never
 * remembered: who waited for a run that ended so runs it again.
 */
export function createGrader(
  oracle: Oracle,
  options: GraderOptions,
  note: (request: RequestRow, found: Found) => void,
): Grade {
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
      const found = await runIt(oracle, options, key, request, signal);
      note(request, found);
      if (found.keepsPlace) await pause(options.timers, found.notBefore - options.timers.now(), signal);
    } finally {
      running.delete(key);
      resolve();
    }
  };
}

function fromCache(oracle: Oracle, key: string, request: RequestRow): Found | null {
  const cached = findCached(oracle.db, key);
  if (!cached) return null;
  const cached_from = verdictIdOf(cached.principal, cached.request_id);
  return {
    code: cached.code,
    reason: 'cached',
    signals: signalsOf(oracle.db, cached_from),
    cached_from,
    notBefore: Math.max(cached.release_at, request.received_at + cached.run_ms),
    keepsPlace: false,
    cache: null,
  };
}

async function runIt(
  oracle: Oracle,
  { timers, retryMs = RETRY_MS }: GraderOptions,
  key: string,
  request: RequestRow,
  signal: AbortSignal,
): Promise<Found> {
  const started = oracle.clock();
  const task = readyTask(oracle, request.task_id);
  let outcome = await outcomeFor(oracle, request, signal);
  for (const wait of retryMs) {
    if (outcome.code !== 'ERROR') break;
    await pause(timers, wait, signal);
    outcome = await outcomeFor(oracle, request, signal);
  }
  const took = oracle.clock() - started;
  // One that is no longer ready is an ERROR, and no run of it.
  const run_ms = task ? answerTime(outcome.code, task.definition, task.row.baseline_ms, took) : took;
  const keepsPlace = task?.definition.constant_time === true;
  const cache = outcome.code === 'ERROR' ? null : { key, run_ms };
  return { ...outcome, cached_from: null, notBefore: started + run_ms, keepsPlace, cache };
}

function pause(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      callOff();
      reject(signal.reason);
    };
    const callOff = timers.at(timers.now() + ms, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}

type Judged = Outcome & { signals: readonly SignalResult[] };

const failed = (reason: string): Judged => ({ code: 'ERROR', reason, signals: [] });

async function outcomeFor(oracle: Oracle, request: RequestRow, signal: AbortSignal): Promise<Judged> {
  try {
    const task = readyTask(oracle, request.task_id);
    if (!task || task.tests_hash !== request.tests_hash)
      return failed('task_changed: the task is no longer the one that was asked for');
    const diff = readDiff(oracle, request.diff_hash);
    if (!diff) return failed('diff_missing: the diff is no longer kept');
    const { diff_hash, principal, request_id, session_id } = request;
    const asked = { principal, request_id, session_id };
    const { diff_missing } = factsOf(request);
    const run = { kind: 'grade', diff, diff_hash, diff_missing, asked, signal } as const;
    const { code, reason, signals } = await gradeDiff(oracle, task, run);
    return { code, reason, signals };
  } catch (error) {
    signal.throwIfAborted();
    return failed(`runner_failed: ${messageOf(error)}`);
  }
}
