import type { Logger } from 'pino';
import { messageOf } from '../schemas/errors.ts';
import type { Oracle } from './oracle.ts';
import { dropDiff, dropRuns, keptDiffs } from './private-log.ts';
import { lastAsked } from './service/requests.ts';
import type { Timers } from './service/timers.ts';

const DAY_MS = 86_400_000;

/**
 * Removes stored diffs that nobody has asked about for so many days; one that still has to be graded stays. One that no
 * request names, as a stop while a request was taken on leaves it, is as old as its file. What is gone cannot be graded
 * again (`regrade`).
 * @returns how many were removed.
 */
export function forgetDiffs(oracle: Oracle, days: number): number {
  const before = oracle.clock() - days * DAY_MS;
  let removed = 0;
  for (const { hash, kept_at } of keptDiffs(oracle)) {
    // A request keeps its diff in such a transaction, too: none is taken on between the question and the removal.
    oracle.db.transaction(() => {
      const { at, settled } = lastAsked(oracle.db, hash) ?? { at: kept_at, settled: true };
      if (!settled || at >= before) return;
      dropDiff(oracle, hash);
      removed++;
    });
  }
  return removed;
}

/** Does so, and with what runs printed, now and once a day; what fails is told and tried again. @returns stops it. */
export function startRetention(oracle: Oracle, timers: Timers, days: number, logger: Logger): () => void {
  let callOff = () => {};
  const sweep = () => {
    try {
      forgetDiffs(oracle, days);
      dropRuns(oracle, oracle.clock() - days * DAY_MS);
    } catch (error) {
      logger.warn(
        { error: messageOf(error) },
        'what is too old could not be removed; it is tried again in a day',
      );
    }
    callOff = timers.at(timers.now() + DAY_MS, sweep);
  };
  sweep();
  return () => callOff();
}
