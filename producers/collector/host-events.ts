import { isoTime } from '../../schemas/time.ts';
import type { Content } from '../draft.ts';
import { type CommitDeps, createCommitter } from './commit.ts';
import type { GateState } from './gate-policy.ts';
import { idOf, type Scalars } from './proto.ts';
import type { SessionState } from './session-state.ts';
import type { StoredSession } from './store.ts';
import { begin, emit, finish, ownerOf, type Work } from './work.ts';

/** Something that the collector itself tells of a session. */
export interface HostEvent {
  type: 'notice' | 'oracle_verdict';
  kind: string;
  /** Makes it that event and no other: the same one is told once. */
  own_id: string;
  phase?: string;
  fields?: Scalars;
  diff?: Content;
  gate?: GateState;
  /** Told of an ended session without opening it again. */
  afterwards?: boolean;
}

/**
 * Commits an event of our own as the chain's next one, and the gate's state with it.
 * @returns the session after it, or null when there is none of that id
 */
export function tellOwn(
  deps: CommitDeps,
  sessionId: string,
  make: (session: StoredSession) => HostEvent | null,
): StoredSession | null {
  return deps.store.transaction(() => {
    const stored = deps.store.session(sessionId);
    const told = stored && make(stored);
    if (!stored || !told) return stored;
    const committer = createCommitter(deps);
    const session = committer.session(sessionId, stored.state.core.harness);
    const ms = deps.clock();
    const work = begin(withGate(session.state, told.gate), committer.context(sessionId, 0));
    emitOwn(work, told, ms);
    committer.add(session, finish(work), ms);
    committer.end();
    return deps.store.session(sessionId);
  });
}

/** Adds an event of our own to what an entry brings. @param ms milliseconds since the epoch */
export function emitOwn(work: Work, told: HostEvent, ms: number): void {
  const { own_id, phase, kind, type, fields = {}, diff } = told;
  const { ended } = work.core;
  const event_id = idOf(ownerOf(work, null), kind, { own_id, ...(phase === undefined ? {} : { phase }) });
  emit(work, {
    ...{ event_id, type, agent_id: null, part: null, ts: isoTime(ms), synthetic: false },
    fields: type === 'notice' ? { ...fields, kind } : fields,
    ...(diff ? { content: { diff } } : {}),
  });
  if (told.afterwards) work.core.ended = ended;
}

function withGate(state: SessionState, gate: GateState | undefined): SessionState {
  return gate ? { ...state, core: { ...state.core, gate } } : state;
}
