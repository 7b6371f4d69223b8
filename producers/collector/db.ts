import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import { ownFile } from '../../schemas/own-file.ts';

const FORMAT = 1;

/**
 * - `entries`: spool files that are worked in, until they are gone from the disk; `until`: their last outbox row.
 * - `ids`: every identity told of, for ever: what makes events once each.
 * - `ordinals`: how often a payload without an id came, by registration.
 * - `outbox`: committed events that are not published; a line of the session's trace file each.
 */
const TABLES = `
  create table if not exists meta (name text primary key, value text not null) strict, without rowid;
  create table if not exists entries (name text primary key, session text not null, until integer not null) strict, without rowid;
  create table if not exists ids (id blob primary key, seq integer not null) strict, without rowid;
  create table if not exists ordinals (payload blob primary key, n integer not null) strict, without rowid;
  create table if not exists sessions (
    session text primary key, seq integer not null, head text, file_bytes integer not null,
    last_ms integer not null, open integer not null, core text not null
  ) strict;
  create index if not exists sessions_open on sessions (last_ms) where open = 1;
  create table if not exists pending (
    session text not null, kind text not null, key text not null, body text not null,
    primary key (session, kind, key)
  ) strict, without rowid;
  create table if not exists outbox (n integer primary key autoincrement, session text not null, line text not null) strict;
  create index if not exists outbox_session on outbox (session, n);
`;

/**
 * Opens collector.db and holds it alone until it is closed or its process ends.
 * @throws FlipstreamError `collector_running` (usage): another collector has this home; `collector_db_newer`,
 *   `collector_db_damaged` (fatal)
 */
export function openDb(path: string): DatabaseSync {
  makeFolder(dirname(path));
  let db: DatabaseSync | null = null;
  try {
    ownFile(path);
    db = new DatabaseSync(path, { timeout: 0 });
    db.exec('pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full;');
    db.exec('begin immediate');
    const version = db.prepare('pragma user_version').get()?.user_version;
    if (typeof version === 'number' && version > FORMAT) {
      const message = `${path} was written by a newer release (format ${version}): use that release, or another home.`;
      throw new FlipstreamError('collector_db_newer', 'fatal', message);
    }
    db.exec(TABLES);
    db.exec(`pragma user_version = ${FORMAT}`);
    db.exec('commit');
    return db;
  } catch (error) {
    db?.close();
    throw named(error, path);
  }
}

function named(error: unknown, path: string): unknown {
  if (error instanceof FlipstreamError) return error;
  const code = error instanceof Error && 'errcode' in error ? error.errcode : null;
  if (code === 5 || code === 6 || code === 261) {
    const message = `Another collector works in ${dirname(path)}: stop it first (\`flipstream status\` shows it), or set FLIPSTREAM_HOME to another folder.`;
    return new FlipstreamError('collector_running', 'usage', message, error);
  }
  if (code === 11 || code === 26) {
    const message = `${path} is damaged (${messageOf(error)}): move it away; sessions then go on in chains of another id.`;
    return new FlipstreamError('collector_db_damaged', 'fatal', message, error);
  }
  const message = `${path} cannot be opened (${messageOf(error)}): check that its folder is writable and the disk is not full.`;
  return new FlipstreamError('collector_db_unusable', 'fatal', message, error);
}
