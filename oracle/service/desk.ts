import type { Logger } from 'pino';
import { messageOf } from '../../schemas/errors.ts';
import type { AnswerCode, GradeRequest } from '../../schemas/grade.ts';
import { sha256 } from '../../schemas/hash.ts';
import type { Placement } from '../keys/key.ts';
import type { Oracle } from '../oracle.ts';
import { keepDiff } from '../private-log.ts';
import { keepSignals } from '../signals/store.ts';
import { readyTask } from '../tasks/rows.ts';
import { remember } from './cache.ts';
import { createGrader, type Found } from './grader.ts';
import { needsOf } from './needs.ts';
import { createQueue, type Needs } from './queue.ts';
import { releaseDue, verdictIdOf } from './release.ts';
import {
  acceptRequest,
  type Facts,
  findRequest,
  finishRequest,
  type NewRequest,
  nextRelease,
  type RequestRow,
  requestById,
  unfinished,
} from './requests.ts';
import { nextEdge, pendingAt, type Timers } from './timers.ts';
import { mayAsk, type Principal } from './tokens.ts';

export interface DeskOptions {
  timers: Timers;
  /** Answers leave on whole multiples of this many milliseconds; 1: at once. */
  bucketMs: number;
  concurrency: number;
  /** What all grades together may take of the machine; default: no bound but `concurrency`. */
  machine?: Needs;
  /** So many may wait to be graded, shared by the hosts that wait; beyond it the answer is ERROR. */
  queueLimit: number;
  /** Largest diff, bytes. */
  maxDiffBytes: number;
  /** Waits between the tries of a grade that the machine failed at; default 1 s and 5 s. */
  retryMs?: readonly number[];
  logger: Logger;
  /** Called after verdicts were signed. */
  onRelease: () => void;
}

/** Where requests become answers. */
export interface Desk {
  /** Resolves at the moment at which the answer may leave. Never rejects. */
  ask(principal: Principal, request: GradeRequest, placement: Placement): Promise<AnswerCode>;
  /** Resolves with NO_TASK on the next edge: for what is no request at all. */
  refuse(): Promise<AnswerCode>;
  /** Stops grading; what was not finished is graded by the next service. Whoever waits is told PENDING. */
  stop(): Promise<void>;
}

const NO_BOUND: Needs = { cpus: Number.POSITIVE_INFINITY, memory_mb: Number.POSITIVE_INFINITY };

/** Until a grade that could not be noted is tried once more. */
const AGAIN_MS = 30_000;

export function openDesk(oracle: Oracle, options: DeskOptions): Desk {
  const { timers, bucketMs, logger } = options;
  const waiters = new Map<number, Set<(code: AnswerCode) => void>>();
  const aborter = new AbortController();
  const { concurrency, machine = NO_BOUND } = options;
  const queue = createQueue({ concurrency, ...machine }, options.queueLimit);
  const grade = createGrader(oracle, options, note);
  let alarm: (() => void) | null = null;
  /** Call off what is to be graded again. */
  const retries = new Set<() => void>();

  function note(request: RequestRow, found: Found): void {
    const release_at = nextEdge(Math.max(timers.now(), found.notBefore - 1), bucketMs);
    oracle.db.transaction(() => {
      finishRequest(oracle, request.id, { ...found, release_at });
      const verdict_id = verdictIdOf(request.principal, request.request_id);
      keepSignals(oracle.db, { ...request, verdict_id }, found.signals);
      if (found.cache && found.code !== 'ERROR') {
        const { code, cache } = found;
        const { principal, request_id } = request;
        remember(oracle.db, cache.key, { code, principal, request_id, run_ms: cache.run_ms, release_at });
      }
    });
    setAlarm();
  }

  /** Grades one; what could not be noted, on a full disk, is graded again. Never rejects. */
  async function finish(row: RequestRow, needs: Needs): Promise<void> {
    const { signal } = aborter;
    try {
      await grade(row, signal);
    } catch (error) {
      if (signal.aborted) return;
      logger.error({ error: messageOf(error) }, 'a grade could not be noted; it is graded again');
      const callOff = timers.at(timers.now() + AGAIN_MS, () => {
        retries.delete(callOff);
        queue.resume(row.principal, () => finish(row, needs), needs);
      });
      retries.add(callOff);
    }
  }

  function setAlarm(): void {
    alarm?.();
    const when = nextRelease(oracle.db);
    // After an interruption the edge may have passed: records carry the edge at which they really leave.
    alarm =
      when === null
        ? null
        : timers.at(when > timers.now() ? when : nextEdge(timers.now(), bucketMs), release);
  }

  function release(): void {
    try {
      const now = timers.now();
      const rows = releaseDue(oracle, now - (now % bucketMs));
      for (const row of rows) settle(row.id, row.code ?? 'ERROR');
      if (rows.length > 0) options.onRelease();
    } catch (error) {
      // Nothing was signed, so nobody is answered: tried again on the next edge.
      logger.error({ error: messageOf(error) }, 'verdicts could not be signed and stored');
      alarm = timers.at(nextEdge(timers.now(), bucketMs), release);
      return;
    }
    setAlarm();
  }

  function settle(id: number, code: AnswerCode): void {
    for (const answer of waiters.get(id) ?? []) answer(code);
    waiters.delete(id);
  }

  const onEdge = (code: AnswerCode) =>
    new Promise<AnswerCode>((resolve) => timers.at(nextEdge(timers.now(), bucketMs), () => resolve(code)));

  function wait(row: RequestRow, deadlineMs: number): Promise<AnswerCode> {
    return new Promise((resolve) => {
      const now = timers.now();
      const set = waiters.get(row.id) ?? new Set();
      waiters.set(row.id, set);
      const callOff = timers.at(pendingAt(now, now + deadlineMs, bucketMs), () => {
        if (set.has(answer)) release(); // a verdict of this very edge goes first
        if (set.delete(answer)) resolve('PENDING');
      });
      const answer = (code: AnswerCode) => {
        callOff();
        set.delete(answer);
        resolve(code);
      };
      set.add(answer);
    });
  }

  function take(principal: Principal, request: GradeRequest, placement: Placement): RequestRow | null {
    const fingerprint = fingerprintOf(request);
    const known = findRequest(oracle.db, principal.name, request.request_id);
    if (known) return known.fingerprint === fingerprint ? known : null;
    if (!mayAsk(principal, request.task_id)) return null;
    const task = readyTask(oracle, request.task_id);
    const baseline_id = task?.row.baseline_id;
    if (!task || !baseline_id) return null;
    const { definition, row } = task;
    if (
      request.base_commit !== definition.base_commit ||
      !definition.root_commits.includes(request.root_commit)
    )
      return null;
    const diff = Buffer.from(request.diff, 'base64');
    if (diff.length > options.maxDiffBytes || sha256(diff) !== request.diff_hash) return null;
    const { family, split, image, evidence, base_commit } = definition;
    const facts: Facts = {
      ...{ family, split, image, evidence, base_commit, placement, baseline_id },
      diff_missing: request.diff_missing ?? null,
    };
    const { request_id, session_id, task_id, chain_id, head, diff_hash } = request;
    const asked: NewRequest = {
      ...{ request_id, session_id, task_id, chain_id, head, diff_hash, fingerprint },
      principal: principal.name,
      tests_hash: row.tests_hash,
      facts: JSON.stringify(facts),
      received_at: timers.now(),
    };
    const accepted = oracle.db.transaction(() => {
      const one = acceptRequest(oracle.db, asked, definition);
      // Durable before the request is, and only for one that is taken on: a refused one takes no room.
      if (one) keepDiff(oracle, diff_hash, diff);
      return one;
    });
    const needs = needsOf(definition.limits);
    if (accepted && !queue.add(principal.name, () => finish(accepted, needs), needs))
      note(accepted, {
        code: 'ERROR',
        reason: 'queue_full',
        signals: [],
        cached_from: null,
        notBefore: 0,
        keepsPlace: false,
        cache: null,
      });
    return accepted && requestById(oracle.db, accepted.id);
  }

  for (const row of unfinished(oracle.db)) {
    const needs = needsOf(readyTask(oracle, row.task_id)?.definition.limits ?? null);
    queue.resume(row.principal, () => finish(row, needs), needs);
  }
  setAlarm();

  return {
    async ask(principal, request, placement) {
      try {
        const row = take(principal, request, placement);
        if (!row) return await onEdge('NO_TASK');
        if (row.state === 'released') return await onEdge(row.code ?? 'ERROR');
        return await wait(row, request.deadline_ms);
      } catch (error) {
        logger.error({ error: messageOf(error) }, 'a request could not be taken on');
        return onEdge('ERROR');
      }
    },
    refuse: () => onEdge('NO_TASK'),
    async stop() {
      aborter.abort();
      alarm?.();
      await queue.stop();
      alarm?.();
      for (const callOff of retries) callOff();
      for (const id of [...waiters.keys()]) settle(id, 'PENDING');
    },
  };
}

/** A request asked again may give another deadline; everything else has to be the same. */
function fingerprintOf({ deadline_ms: _, diff: __, ...rest }: GradeRequest): string {
  return sha256(JSON.stringify(Object.entries(rest).sort()));
}
