import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { FlipstreamError, messageOf } from '../schemas/errors.ts';
import { holdFile } from '../schemas/hold-file.ts';
import type { OracleHome } from './home.ts';

const SCHEMA = `
create table if not exists tokens (
  hash text primary key, principal text not null, tasks text not null, created_at text not null
) strict;
create table if not exists tasks (
  task_id text primary key, tests_hash text not null, base_commit text not null, root_commit text not null,
  status text not null, reason text, checked_at text, baseline_id text,
  baseline_ms integer not null, accepted text, suite_excluded integer, reference_passed integer, hangs integer
) strict;
create table if not exists verdicts (
  key_id text not null, seq integer not null, verdict_id text not null unique, hash text not null,
  record blob not null, primary key (key_id, seq)
) strict;
create table if not exists requests (
  id integer primary key, principal text not null, request_id text not null, fingerprint text not null,
  session_id text not null, task_id text not null, chain_id text not null, head text not null,
  diff_hash text not null, tests_hash text not null, facts text not null, received_at integer not null,
  state text not null, code text, reason text, cached_from text, release_at integer,
  verdict_id text, retracted_by text, unique (principal, request_id)
) strict;
create index if not exists requests_budget on requests (principal, task_id, session_id);
create index if not exists requests_due on requests (state, release_at);
create table if not exists outbox (
  id integer primary key autoincrement, topic text not null, key text not null, record blob not null,
  principal text
) strict;
create index if not exists outbox_fetched on outbox (principal, id);
create table if not exists published (one integer primary key check (one = 1), place integer not null) strict;
insert or ignore into published values (1, 0);
create table if not exists baseline_copies (
  session_id text not null, verdict_id text not null, primary key (session_id, verdict_id)
) strict;
create table if not exists cache (
  cache_key text primary key, code text not null, principal text not null, request_id text not null,
  run_ms integer not null, release_at integer not null
) strict;
create table if not exists signals (
  verdict_id text not null, session_id text not null, task_id text not null, name text not null, kind text not null,
  passed integer, decides integer not null, primary key (verdict_id, name)
) strict;
create table if not exists runs (
  id integer primary key, run_id text not null unique, kind text not null, task_id text not null,
  principal text, request_id text, session_id text, at text not null, code text not null, reason text
) strict;
`;

/** Columns that a table of an earlier release does not have. */
const ADDED: readonly [table: string, column: string, type: string][] = [
  ['tasks', 'accepted', 'text'],
  ['tasks', 'hangs', 'integer'],
  ['tasks', 'suite_excluded', 'integer'],
  ['tasks', 'reference_passed', 'integer'],
  ['outbox', 'principal', 'text'],
  ['requests', 'retracted_by', 'text'],
];

export interface OracleDb {
  readonly sql: DatabaseSync;
  /** Runs `work` as one durable transaction; nothing of it stays when it throws. Not to be nested. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/**
 * Opens the oracle's database; several processes may, since commands change tasks and tokens beside the service.
 * @throws FlipstreamError `oracle_db` (fatal) when the file cannot be opened or is no database.
 */
export function openOracleDb(home: OracleHome): OracleDb {
  const sql = open(home.db);
  return {
    sql,
    transaction(work) {
      sql.exec('begin immediate');
      try {
        const result = work();
        sql.exec('commit');
        return result;
      } catch (error) {
        if (sql.isTransaction) sql.exec('rollback');
        throw error;
      }
    },
    close: () => sql.close(),
  };
}

function open(path: string): DatabaseSync {
  try {
    const sql = new DatabaseSync(path, { timeout: 10_000 });
    chmodSync(path, 0o600);
    // FULL: a commit is on the disk before anything is answered.
    sql.exec('pragma journal_mode = wal; pragma synchronous = full');
    for (const [table, column, type] of ADDED) addColumn(sql, table, column, type);
    sql.exec(SCHEMA);
    return sql;
  } catch (cause) {
    throw new FlipstreamError(
      'oracle_db',
      'fatal',
      `${path} cannot be used as the oracle's database: ${messageOf(cause)}`,
      cause,
    );
  }
}

function addColumn(sql: DatabaseSync, table: string, column: string, type: string): void {
  const columns = sql.prepare(`pragma table_info(${table})`).all();
  if (columns.length === 0 || columns.some(({ name }) => name === column)) return;
  sql.exec(`alter table ${table} add column ${column} ${type}`);
}

/**
 * Takes the home for one service; the lock goes with the process, however that ends.
 * @throws FlipstreamError `oracle_running` (usage) when another service has it, `lock_unusable` (usage)
 */
export function lockHome(home: OracleHome): () => void {
  const held = holdFile(home.lock);
  if (held !== 'busy') return held;
  throw new FlipstreamError(
    'oracle_running',
    'usage',
    `another oracle already serves ${home.root}; stop it first`,
  );
}
