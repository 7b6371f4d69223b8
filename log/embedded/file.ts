import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FlipstreamError } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import { integer } from './rows.ts';
import { DAMAGED_ADVICE, named } from './sqlite-errors.ts';
import { APPLICATION_ID, FORMAT, TABLES } from './tables.ts';

/** How long one call may block the event loop for a lock; longer waits are asynchronous (transact.ts). */
const BLOCKING_MS = 5;
const OPEN_MS = 10_000;
/** Bytes after which a commit also moves the write-ahead log into the file. */
const CHECKPOINT_BYTES = 32 * 2 ** 20;
const PAGE_BYTES = 8192;
const CACHE_KIB = 32 * 1024;

/**
 * Opens the log's file, and makes it first where there is none. A new file appears whole, under its name, by
 * link(2): two processes that start at once cannot both make it.
 * @throws FlipstreamError `log_not_ours`, `log_newer`, `log_damaged`, `log_unopenable` (fatal)
 */
export function openFile(
  path: string,
  { partitions, maxBytes }: { partitions: number; maxBytes?: number },
): DatabaseSync {
  try {
    if (!existsSync(path)) create(path, partitions);
    refuseCutShort(path);
    const db = new DatabaseSync(path, { timeout: OPEN_MS });
    try {
      refuseForeign(db, path);
      db.exec(`
        PRAGMA synchronous = FULL;
        PRAGMA cache_size = -${CACHE_KIB};
        PRAGMA wal_autocheckpoint = ${CHECKPOINT_BYTES / PAGE_BYTES};
        PRAGMA journal_size_limit = ${2 * CHECKPOINT_BYTES};
      `);
      if (maxBytes !== undefined) db.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / PAGE_BYTES)}`);
      db.exec(`PRAGMA busy_timeout = ${BLOCKING_MS}`);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    throw named(error, path);
  }
}

function create(path: string, partitions: number): void {
  makeFolder(dirname(path));
  const whole = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.new`;
  try {
    // SQLite gives the write-ahead log the mode of the file: what it holds is for its owner alone.
    closeSync(openSync(whole, 'wx', 0o600));
    const db = new DatabaseSync(whole);
    db.exec(`
      PRAGMA page_size = ${PAGE_BYTES};
      PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA journal_mode = WAL;
      PRAGMA application_id = ${APPLICATION_ID};
      PRAGMA user_version = ${FORMAT};
      BEGIN;
      ${TABLES}
      INSERT INTO meta VALUES ('log_id', '${randomBytes(16).toString('hex')}'), ('partitions', '${partitions}');
      COMMIT;
    `);
    db.close();
    linkSync(whole, path);
    sync(dirname(path));
  } catch (error) {
    // Another process was first; its file is as good.
    if (!existsSync(path)) throw error;
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(whole + suffix, { force: true });
  }
}

function sync(directory: string): void {
  // Windows cannot open a directory; there the name is durable by itself.
  if (process.platform === 'win32') return;
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * SQLite takes an empty file for a new database, and a short one is noticed only where something is missing.
 * While a write-ahead log lies beside it the file may rightly be behind its header.
 */
function refuseCutShort(path: string): void {
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (wal && wal.size > 0) return;
  const header = Buffer.alloc(100);
  const fd = openSync(path, 'r');
  try {
    const got = readSync(fd, header, 0, header.length, 0);
    const ours = got === 0 || header.toString('latin1', 0, 15) === 'SQLite format 3';
    const cut = (left: string) =>
      new FlipstreamError('log_damaged', 'fatal', `${path} was cut short: ${left}; ${DAMAGED_ADVICE}`);
    if (ours && got < header.length)
      throw cut(`${got} bytes are left, which is not even its header of ${header.length}`);
    const page = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
    const whole = page * header.readUInt32BE(28);
    const { size } = statSync(path);
    if (ours && size < whole) throw cut(`${size} bytes are left of ${whole}`);
  } finally {
    closeSync(fd);
  }
}

function refuseForeign(db: DatabaseSync, path: string): void {
  if (integer(db.prepare('PRAGMA application_id').get(), 'application_id') !== APPLICATION_ID) {
    throw new FlipstreamError(
      'log_not_ours',
      'fatal',
      `${path} is not a flipstream log: move it away or name another place`,
    );
  }
  const format = integer(db.prepare('PRAGMA user_version').get(), 'user_version');
  if (format > FORMAT) {
    throw new FlipstreamError(
      'log_newer',
      'fatal',
      `${path} has format ${format} and this release knows ${FORMAT}: update flipstream`,
    );
  }
}
