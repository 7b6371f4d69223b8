import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { parseJson } from '../../schemas/parse-json.ts';
import { Core, newSession, OpenCall, OpenMessage, type SessionState } from './session-state.ts';

/** A session as collector.db has it: its chain's end, its file's length, and what its assembly remembers. */
export interface StoredSession {
  session_id: string;
  /** Of the next event. */
  seq: number;
  head: string | null;
  /** Bytes of the trace file that hold published lines. */
  file_bytes: number;
  /** Time of the last event, milliseconds since the epoch. */
  last_ms: number;
  state: SessionState;
}

export interface Store {
  session(id: string): StoredSession | null;
  /** Within a transaction. @param before what `session` gave, or null */
  putSession(session: StoredSession, before: StoredSession | null): void;
  known(eventId: string): boolean;
  putId(eventId: string, seq: number): void;
  /** Counts a payload within its registration; 0 for the first. */
  nextOrdinal(sessionId: string, registration: string, payloadHash: string): number;
  /** Sessions that are open and silent since `before`, milliseconds. */
  silent(before: number): string[];
  openSessions(): string[];
  latestSession(): string | null;
  meta(name: string): string | null;
  putMeta(name: string, value: string): void;
  /** Runs `work` in one transaction; what it threw is thrown again with nothing changed. */
  transaction<T>(work: () => T): T;
}

const CACHED_SESSIONS = 256;
const SessionRow = z.object({
  seq: z.number(),
  head: z.string().nullable(),
  file_bytes: z.number(),
  last_ms: z.number(),
  core: z.string(),
});
const PendingRow = z.object({ kind: z.enum(['call', 'message']), key: z.string(), body: z.string() });
const Named = z.object({ session: z.string() });

export function createStore(db: DatabaseSync): Store {
  const cache = new LRUCache<string, StoredSession>({ max: CACHED_SESSIONS });
  const sql = {
    session: db.prepare('select seq, head, file_bytes, last_ms, core from sessions where session = ?'),
    putSession: db.prepare(
      `insert into sessions values (?, ?, ?, ?, ?, ?, ?) on conflict (session) do update set
       seq = excluded.seq, head = excluded.head, last_ms = excluded.last_ms, open = excluded.open, core = excluded.core`,
    ),
    pending: db.prepare('select kind, key, body from pending where session = ?'),
    putPending: db.prepare(
      'insert into pending values (?, ?, ?, ?) on conflict do update set body = excluded.body',
    ),
    dropPending: db.prepare('delete from pending where session = ? and kind = ? and key = ?'),
    known: db.prepare('select 1 as found from ids where id = ?'),
    putId: db.prepare('insert or ignore into ids values (?, ?)'),
    ordinal: db.prepare('insert into ordinals values (?, 0) on conflict do update set n = n + 1 returning n'),
    silent: db.prepare('select session from sessions where open = 1 and last_ms < ?'),
    open: db.prepare('select session from sessions where open = 1'),
    latest: db.prepare('select session from sessions order by last_ms desc limit 1'),
    meta: db.prepare('select value from meta where name = ?'),
    putMeta: db.prepare('insert into meta values (?, ?) on conflict do update set value = excluded.value'),
  };

  function load(id: string): StoredSession | null {
    const found = sql.session.get(id);
    if (!found) return null;
    const { core, ...row } = SessionRow.parse(found);
    const calls = new Map<string, OpenCall>();
    const messages = new Map<string, OpenMessage>();
    for (const { kind, key, body } of z.array(PendingRow).parse(sql.pending.all(id))) {
      if (kind === 'call') calls.set(key, OpenCall.parse(parseJson(body)));
      else messages.set(key, OpenMessage.parse(parseJson(body)));
    }
    return { session_id: id, ...row, state: { core: Core.parse(parseJson(core)), calls, messages } };
  }

  function putPending<T>(id: string, kind: string, now: ReadonlyMap<string, T>, was: ReadonlyMap<string, T>) {
    for (const [key, item] of now)
      if (was.get(key) !== item) sql.putPending.run(id, kind, key, JSON.stringify(item));
    for (const key of was.keys()) if (!now.has(key)) sql.dropPending.run(id, kind, key);
  }

  return {
    session(id) {
      const cached = cache.get(id);
      if (cached) return cached;
      const loaded = load(id);
      if (loaded) cache.set(id, loaded);
      return loaded;
    },
    putSession(session, before) {
      const { session_id: id, seq, head, file_bytes, last_ms, state } = session;
      const open = state.core.ended ? 0 : 1;
      sql.putSession.run(id, seq, head, file_bytes, last_ms, open, JSON.stringify(state.core));
      const was = before?.state ?? newSession('');
      putPending(id, 'call', state.calls, was.calls);
      putPending(id, 'message', state.messages, was.messages);
      cache.set(id, session);
    },
    known: (eventId) => sql.known.get(Buffer.from(eventId, 'hex')) !== undefined,
    putId(eventId, seq) {
      sql.putId.run(Buffer.from(eventId, 'hex'), seq);
    },
    nextOrdinal(sessionId, registration, payloadHash) {
      const key = JSON.stringify([sessionId, registration, payloadHash]);
      const row = sql.ordinal.get(createHash('sha256').update(key).digest().subarray(0, 16));
      return z.object({ n: z.number() }).parse(row).n;
    },
    silent: (before) =>
      z
        .array(Named)
        .parse(sql.silent.all(before))
        .map((row) => row.session),
    openSessions: () =>
      z
        .array(Named)
        .parse(sql.open.all())
        .map((row) => row.session),
    latestSession: () => Named.optional().parse(sql.latest.get())?.session ?? null,
    meta: (name) => z.object({ value: z.string() }).optional().parse(sql.meta.get(name))?.value ?? null,
    putMeta(name, value) {
      sql.putMeta.run(name, value);
    },
    transaction(work) {
      db.exec('begin immediate');
      try {
        const result = work();
        db.exec('commit');
        return result;
      } catch (error) {
        cache.clear();
        if (db.isTransaction) db.exec('rollback');
        throw error;
      }
    },
  };
}
