import { isoTime } from '../../schemas/time.ts';
import { closeQuiet } from './assemble.ts';
import { type CommitDeps, createCommitter } from './commit.ts';
import { type HostEvent, tellOwn } from './host-events.ts';

/** Losses that hooks counted and nobody has told of (spool/losses.ts). */
export interface Losses {
  read(): { count: number; lastMs: number };
  /** Marks that many as told. */
  reset(count: number): void;
}

/** Ends sessions that have been silent for `quietMs`. Call it only when the spool is worked in. */
export function closeSilent(deps: CommitDeps, quietMs: number): void {
  const now = deps.clock();
  for (const id of deps.store.silent(now - quietMs)) {
    deps.store.transaction(() => {
      const committer = createCommitter(deps);
      const session = committer.session(id, '');
      const at = { ts: isoTime(now), lastSeq: session.seq - 1 };
      committer.add(session, closeQuiet(session.state, committer.context(id, 0), at), now);
      committer.end();
    });
  }
}

/** Tells losses in the session that was heard last: whose they were is not known. */
export function tellLosses(deps: CommitDeps, losses: Losses): void {
  const { count, lastMs } = losses.read();
  const session = count > 0 ? deps.store.latestSession() : null;
  if (session === null) return;
  tellOwn(deps, session, () => ({
    ...{ type: 'notice', kind: 'events_lost', own_id: `${lastMs}`, phase: String(count), afterwards: true },
    fields: { count },
  }));
  losses.reset(count);
}

/** What came over HTTP while nobody listened is lost, and nobody can say what it was. */
export function gapNotice(startedMs: number): HostEvent {
  return {
    ...{ type: 'notice', kind: 'gap', own_id: 'http', phase: String(startedMs), afterwards: true },
    fields: { reason: 'http_transport_down' },
  };
}

/** Marks sessions that were open, and used HTTP, while there was no collector. */
export function tellGaps(deps: CommitDeps, startedMs: number): void {
  for (const id of deps.store.openSessions())
    tellOwn(deps, id, (session) => (session.state.core.http ? gapNotice(startedMs) : null));
}
