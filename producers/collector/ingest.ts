import { messageOf } from '../../schemas/errors.ts';
import type { Draft, SpoolEntry } from '../draft.ts';
import { assemble } from './assemble.ts';
import { type CommitDeps, type Committer, createCommitter } from './commit.ts';
import { emitOwn } from './host-events.ts';
import type { SpoolFiles } from './spool-files.ts';
import { gapNotice } from './upkeep.ts';
import { begin, finish } from './work.ts';

export interface IngestDeps extends CommitDeps {
  spool: SpoolFiles;
  batch: number;
  /** HTTP hooks are registered, and nobody listened to them before this time, milliseconds. */
  deafUntil: number | null;
  warn: (message: string, fields: Record<string, unknown>) => void;
}

export interface Ingest {
  /** Commits everything that the spool holds now, in order of capture, some entries a transaction. */
  all(): Promise<void>;
  /** Spool files that are committed and still on the disk. */
  readonly done: Set<string>;
  counters: { entries: number; unreadable: number };
}

/** @returns the ingest of a spool into collector.db: the step that gives an event its place */
export function createIngest(deps: IngestDeps): Ingest {
  const { spool, store, outbox } = deps;
  const done = new Set(outbox.entries());
  const counters = { entries: 0, unreadable: 0 };

  function one(committer: Committer, name: string, entry: SpoolEntry): void {
    const session = committer.session(entry.session_id, entry.harness);
    const counts = entry.drafts.some((draft) => draft.own_id === undefined);
    const ordinal = counts ? store.nextOrdinal(entry.session_id, entry.registration, entry.payload_hash) : 0;
    const assembled = assemble(session.state, entry, committer.context(entry.session_id, ordinal));
    committer.add(session, assembled, Date.parse(entry.ts));
    if (deaf(entry)) gap(committer, entry);
    outbox.putEntry(name, entry.session_id);
  }

  /**
   * Where users drop their entries, a session belongs to the one whose entry came first; an entry that the collector's
   * own user put there comes from no agent.
   */
  function isOwn({ session_id }: SpoolEntry, uid: number): boolean {
    if (deps.capture !== 'separate_user') return true;
    if (uid === process.getuid?.()) return false;
    const owner = store.meta(`uid ${session_id}`);
    if (owner === null) store.putMeta(`uid ${session_id}`, String(uid));
    return owner === null || owner === String(uid);
  }

  /** A session that began while nobody listened has lost what its HTTP hooks told. */
  function deaf({ ts, transport, agent_id, drafts }: SpoolEntry): boolean {
    const before = deps.deafUntil !== null && Date.parse(ts) < deps.deafUntil;
    return before && transport === 'command' && agent_id === null && drafts.some(isStart);
  }

  function gap(committer: Committer, entry: SpoolEntry): void {
    const session = committer.session(entry.session_id, entry.harness);
    const work = begin(session.state, committer.context(entry.session_id, 0));
    emitOwn(work, gapNotice(deps.deafUntil ?? 0), Date.parse(entry.ts));
    committer.add(session, finish(work), Date.parse(entry.ts));
  }

  function commit(names: readonly string[]): void {
    const bad: string[] = [];
    const good: string[] = [];
    store.transaction(() => {
      const committer = createCommitter(deps);
      for (const name of names) {
        const found = spool.read(name);
        // worked in and removed meanwhile, or taken back by a hook that could not make it durable
        if (found === 'gone') continue;
        if (found !== 'unusable' && usable(found.entry) && isOwn(found.entry, found.uid)) {
          one(committer, name, found.entry);
          good.push(name);
        } else bad.push(name);
      }
      committer.end();
    });
    for (const name of good) done.add(name);
    counters.entries += good.length;
    for (const name of bad) setAside(name);
  }

  /** An entry that we cannot work on, whatever the reason, must not hold up those after it for ever. */
  function batch(names: readonly string[]): void {
    try {
      commit(names);
    } catch (error) {
      if (isOfSystem(error)) throw error;
      const [name] = names;
      if (names.length > 1) for (const single of names) batch([single]);
      else if (name !== undefined) setAside(name, error);
    }
  }

  function setAside(name: string, error?: unknown): void {
    counters.unreadable += 1;
    const why = error === undefined ? undefined : messageOf(error);
    deps.warn('a spool entry cannot be used and is set aside in spool/bad', { name, why });
    spool.setAside(name);
  }

  return {
    done,
    counters,
    async all() {
      const names = spool.list().filter((name) => !done.has(name));
      for (let from = 0; from < names.length; from += deps.batch) {
        const some = names.slice(from, from + deps.batch).filter((name) => !done.has(name));
        if (some.length > 0) batch(some);
        if (from + deps.batch < names.length) await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

/** An entry whose time is no time has a place in no order. */
function usable(entry: SpoolEntry): boolean {
  return !Number.isNaN(Date.parse(entry.ts)) && entry.session_id !== '' && entry.session_id.length <= 256;
}

function isStart(draft: Draft): boolean {
  return draft.role === 'event' && draft.type === 'session_start';
}

/** The disk's or the database's fault, which passes; a fault of the entry does not. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && ('errcode' in error || 'syscall' in error);
}
