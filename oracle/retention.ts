import type { Logger } from 'pino';
import { messageOf } from '../schemas/errors.ts';
import type { Oracle } from './oracle.ts';
import { dropDiff, dropRuns, keptDiffs } from './private-log.ts';
import { lastAsked } from './service/requests.ts';
import type { Timers } from './service/timers.ts';

const DAY_MS = 86_400_000;

/**
 * Removes stored diffs that nobody has asked about for so many days; one that still has to be graded stays, and so does
 * one that no request names, which a command may be about to use. What is gone cannot be graded again (`regrade`).
 * @returns how many were removed.
 */
export function forgetDiffs(oracle: Oracle, days: number): number {
  const before = oracle.clock() - days * DAY_MS;
  const old = keptDiffs(oracle).filter((hash) => {
    const asked = lastAsked(oracle.db, hash);
    return asked?.settled === true && asked.at < before;
  });
  for (const hash of old) dropDiff(oracle, hash);
  return old.length;
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
