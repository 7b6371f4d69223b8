import { canonical } from '../../schemas/canonical.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { headerHash } from '../../schemas/header.ts';
import type { Clock } from '../../schemas/time.ts';
import type { HomeIdentity } from '../identity-files.ts';
import { eventAt } from './event.ts';
import type { Outbox } from './outbox.ts';
import { newSession } from './session-state.ts';
import type { Store, StoredSession } from './store.ts';
import type { AssembleContext, Assembled } from './work.ts';

export interface CommitDeps {
  store: Store;
  outbox: Outbox;
  identity: HomeIdentity;
  /** same_user, separate_user or imported. */
  capture: string;
  clock: Clock;
  keyedHash: (text: string) => string;
  redact: AssembleContext['redact'];
  limit: number;
}

/** Works on sessions within one transaction: everything is written when it ends, once a session. */
export interface Committer {
  session(id: string, harness: string): StoredSession;
  context(session: string, ordinal: number): AssembleContext;
  /** Gives events their place in the chain. */
  add(session: StoredSession, assembled: Assembled, at: number): TraceEvent[];
  /** Sessions worked on are written; call it last. */
  end(): void;
}

export function createCommitter(deps: CommitDeps): Committer {
  const { store, outbox, identity, capture } = deps;
  const touched = new Map<string, { before: StoredSession | null; now: StoredSession }>();

  return {
    session(id, harness) {
      const open = touched.get(id);
      if (open) return open.now;
      const before = store.session(id);
      const state = newSession(harness);
      const now = before ?? { session_id: id, seq: 0, head: null, file_bytes: 0, last_ms: 0, state };
      touched.set(id, { before, now });
      return now;
    },
    context: (session_id, ordinal) => ({
      session_id,
      ordinal,
      known: (id) => store.known(id),
      keyedHash: deps.keyedHash,
      redact: deps.redact,
      limit: deps.limit,
    }),
    add(session, { state, events, absorbed }, at) {
      const { session_id } = session;
      let { seq, head } = session;
      const made = events.map((proto) => {
        const place = { session_id, chain_id: identity.home_id, host_id: identity.host_id, capture };
        const event = eventAt(proto, { ...place, seq, prev: head });
        for (const id of [proto.event_id, ...proto.also]) store.putId(id, seq);
        head = headerHash(event);
        seq += 1;
        outbox.add(session_id, canonical(event));
        return event;
      });
      for (const id of absorbed) store.putId(id, -1);
      // a clock that has been ahead must not keep a session open for ever
      const heard = events.length > 0 ? Math.min(at, deps.clock()) : 0;
      const now = { ...session, state, seq, head, last_ms: Math.max(session.last_ms, heard) };
      const before = touched.get(session_id)?.before ?? null;
      touched.set(session_id, { before, now });
      return made;
    },
    end() {
      for (const { before, now } of touched.values()) if (now !== before) store.putSession(now, before);
    },
  };
}
