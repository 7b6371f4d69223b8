import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { isBusy, named } from './sqlite-errors.ts';

/** Tries without a pause before waiting by the clock: a commit elsewhere takes about a millisecond. */
const QUICK_TRIES = 3;
const GIVE_UP_MS = 30_000;

/** Runs `body` in one write transaction, synchronous once it has the lock. */
export type Transact = <T>(body: () => T) => Promise<T>;

/**
 * Waiting for the lock leaves the event loop free, which SQLite's own waiting would not.
 * @throws FlipstreamError by sqlite-errors.ts; whatever `body` throws; in both cases nothing was written.
 */
export function createTransact(db: DatabaseSync, path: string): Transact {
  return async (body) => {
    const until = performance.now() + GIVE_UP_MS;
    for (let tries = 0; ; tries++) {
      try {
        db.exec('BEGIN IMMEDIATE');
        break;
      } catch (error) {
        if (!isBusy(error) || performance.now() > until) throw named(error, path);
      }
      if (tries < QUICK_TRIES) await turn();
      else await wait(1);
    }
    try {
      const result = body();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      // On a full disk SQLite may have rolled back by itself.
      if (db.isTransaction) db.exec('ROLLBACK');
      throw named(error, path);
    }
  };
}
