import type { Clock } from '../schemas/time.ts';
import { type OracleDb, openOracleDb } from './db.ts';
import { ensureOracleHome, type OracleHome, runPrefix } from './home.ts';
import { initKey, loadKey, type SigningKey } from './keys/key.ts';
import { processRunner } from './runner/process.ts';
import type { Runner } from './runner/runner.ts';

/** What every command and the service work with: one open home. */
export interface Oracle {
  home: OracleHome;
  oracleHost: string;
  db: OracleDb;
  key: SigningKey;
  runner: Runner;
  clock: Clock;
  close(): void;
}

export interface OpenOptions {
  home: OracleHome;
  /** Default: the process runner. */
  runner?: Runner;
  clock?: Clock;
}

/**
 * Opens an oracle's home, making what is not there: directories, key, database.
 * @throws FlipstreamError `oracle_home_open`, `key_unreadable`, `key_home_shared` (usage) or `oracle_db` (fatal).
 */
export function openOracle(options: OpenOptions): Oracle {
  const { home } = options;
  const oracleHost = ensureOracleHome(home);
  const runner = options.runner ?? processRunner({ prefix: runPrefix(oracleHost) });
  initKey(home, runner.kind);
  const key = loadKey(home, runner.kind);
  const db = openOracleDb(home);
  return { home, oracleHost, db, key, runner, clock: options.clock ?? Date.now, close: () => db.close() };
}
