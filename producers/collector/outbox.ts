import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';

/** A committed event: its session's next line. */
export interface OutboxRow {
  n: number;
  session: string;
  line: string;
}

/** Committed events on their way to trace files and log, and the spool files they came from. */
export interface Outbox {
  add(session: string, line: string): number;
  /** Rows above `after`, in order, about `maxBytes` of them. */
  after(after: number, maxBytes: number): OutboxRow[];
  ofSession(session: string, from: number): OutboxRow[];
  /** The oldest rows up to `through` that belong to none of the sessions left out. */
  oldest(through: number, without: readonly string[], maxBytes: number): OutboxRow[];
  /** Within a transaction: these rows are in the log. Their lines then count as part of their files. */
  published(rows: readonly OutboxRow[]): void;
  /** Bytes of a session's lines before row `n`, published or not. */
  bytesBefore(session: string, n: number): number;
  /** Bytes that its trace file has lost. */
  lost(session: string, bytes: number): void;
  size(): number;
  /** Number of the oldest row; beyond every row when there is none. */
  first(): number;
  /** Number of the newest row that ever was. */
  last(): number;
  /** Notes that a spool file is worked in. */
  putEntry(name: string, session: string): void;
  entries(): string[];
  /** Spool files of which everything is published. */
  finished(): string[];
  forget(names: readonly string[]): void;
}

const Row = z.object({ n: z.number(), session: z.string(), line: z.string() });
const Count = z.object({ n: z.number() });
const Name = z.object({ name: z.string() });

export function createOutbox(db: DatabaseSync): Outbox {
  const sql = {
    add: db.prepare('insert into outbox (session, line) values (?, ?)'),
    after: db.prepare('select n, session, line from outbox where n > ? order by n limit 1000'),
    ofSession: db.prepare(
      'select n, session, line from outbox where session = ? and n >= ? order by n limit 1000',
    ),
    oldest: db.prepare(
      `select n, session, line from outbox where n <= ? and session not in (select value from json_each(?))
       order by n limit 1000`,
    ),
    drop: db.prepare('delete from outbox where n = ?'),
    grow: db.prepare('update sessions set file_bytes = file_bytes + ? where session = ?'),
    before: db.prepare(
      `select file_bytes + (select coalesce(sum(length(cast(line as blob)) + 1), 0) from outbox
       where outbox.session = sessions.session and n < ?) as n from sessions where session = ?`,
    ),
    size: db.prepare('select count(*) as n from outbox'),
    first: db.prepare('select coalesce(min(n), 9007199254740991) as n from outbox'),
    last: db.prepare("select coalesce(max(seq), 0) as n from sqlite_sequence where name = 'outbox'"),
    putEntry: db.prepare(
      "insert or ignore into entries values (?, ?, (select coalesce(max(seq), 0) from sqlite_sequence where name = 'outbox'))",
    ),
    entries: db.prepare('select name from entries'),
    finished: db.prepare(
      `select name from entries where not exists
       (select 1 from outbox where outbox.session = entries.session and outbox.n <= entries.until)`,
    ),
    forget: db.prepare('delete from entries where name = ?'),
  };
  const names = (rows: unknown[]) =>
    z
      .array(Name)
      .parse(rows)
      .map((row) => row.name);

  function within(rows: Iterable<unknown>, maxBytes: number): OutboxRow[] {
    const taken: OutboxRow[] = [];
    let bytes = 0;
    for (const found of rows) {
      const row = Row.parse(found);
      bytes += row.line.length;
      if (taken.length > 0 && bytes > maxBytes) break;
      taken.push(row);
    }
    return taken;
  }

  return {
    add: (session, line) => Number(sql.add.run(session, line).lastInsertRowid),
    after: (after, maxBytes) => within(sql.after.iterate(after), maxBytes),
    ofSession: (session, from) => within(sql.ofSession.iterate(session, from), Number.POSITIVE_INFINITY),
    oldest: (through, without, maxBytes) =>
      within(sql.oldest.iterate(through, JSON.stringify(without)), maxBytes),
    published(rows) {
      const grown = new Map<string, number>();
      for (const { n, session, line } of rows) {
        sql.drop.run(n);
        grown.set(session, (grown.get(session) ?? 0) + Buffer.byteLength(line) + 1);
      }
      for (const [session, bytes] of grown) sql.grow.run(bytes, session);
    },
    bytesBefore: (session, n) => Count.parse(sql.before.get(n, session)).n,
    lost(session, bytes) {
      sql.grow.run(-bytes, session);
    },
    first: () => Count.parse(sql.first.get()).n,
    last: () => Count.parse(sql.last.get()).n,
    size: () => Count.parse(sql.size.get()).n,
    putEntry(name, session) {
      sql.putEntry.run(name, session);
    },
    entries: () => names(sql.entries.all()),
    finished: () => names(sql.finished.all()),
    forget(list) {
      for (const name of list) sql.forget.run(name);
    },
  };
}
