import type { Oracle } from './oracle.ts';
import { dropDiff, keptDiffs } from './private-log.ts';
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

/** Does so now and once a day. @returns stops it. */
export function startRetention(oracle: Oracle, timers: Timers, days: number): () => void {
  let callOff = () => {};
  const sweep = () => {
    forgetDiffs(oracle, days);
    callOff = timers.at(timers.now() + DAY_MS, sweep);
  };
  sweep();
  return () => callOff();
}
