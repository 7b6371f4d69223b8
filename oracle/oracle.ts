import type { Clock } from '../schemas/time.ts';
import { type OracleDb, openOracleDb } from './db.ts';
import { ensureOracleHome, type OracleHome } from './home.ts';
import { initKey, keyKind, loadKey, type SigningKey } from './keys/key.ts';
import type { Runner } from './runner/runner.ts';
import { type ImageSearch, runnerOf } from './runners.ts';
import { sealEarlier, sealReasons } from './sealed/earlier.ts';
import { openSealer, type Sealer } from './sealed/sealer.ts';

/** What every command and the service work with: one open home. */
export interface Oracle {
  home: OracleHome;
  oracleHost: string;
  db: OracleDb;
  sealer: Sealer;
  key: SigningKey;
  runner: Runner;
  /** Null where no image is run. */
  searchImage: ImageSearch | null;
  clock: Clock;
  close(): void;
}

export interface OpenOptions {
  home: OracleHome;
  /** Default: the one that the home's key is for; of a new home the process runner. */
  runner?: Runner;
  searchImage?: ImageSearch;
  clock?: Clock;
}

/**
 * Opens an oracle's home, making what is not there: directories, key, database.
 * @throws FlipstreamError `oracle_home_open`, `key_unreadable`, `key_home_shared`, `store_key_unreadable` (usage) or `oracle_db` (fatal).
 */
export function openOracle(options: OpenOptions): Oracle {
  const { home } = options;
  const oracleHost = ensureOracleHome(home);
  const { runner, searchImage } = options.runner
    ? { runner: options.runner, searchImage: options.searchImage ?? null }
    : runnerOf(home, keyKind(home) ?? 'process', oracleHost);
  initKey(home, runner.kind);
  const key = loadKey(home, runner.kind);
  const sealer = openSealer(home);
  sealEarlier({ home, sealer });
  const db = openOracleDb(home);
  sealReasons({ db, sealer });
  const { clock = Date.now } = options;
  return { home, oracleHost, db, sealer, key, runner, searchImage, clock, close: () => db.close() };
}
