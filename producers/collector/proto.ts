import type { EventType, TraceEvent } from '../../schemas/generated.ts';
import { eventId, type Identity } from '../../schemas/identity.ts';
import type { Content } from '../draft.ts';

export type Scalars = Record<string, string | number | boolean | null>;
export type Contents = Partial<Record<'text' | 'input' | 'output' | 'result' | 'diff', Content>>;

/** An event that has no place in a chain yet. */
export interface Proto {
  event_id: string;
  /** Other identities that this event tells of: what comes later under them is no news. */
  also: readonly string[];
  ts: string;
  type: EventType;
  turn: number;
  harness: string;
  harness_event: string | null;
  agent_id: string | null;
  transport: TraceEvent['transport'];
  synthetic: boolean;
  fields: Scalars;
  content: Contents;
}

/** Who an identity belongs to. */
export interface Owner {
  harness: string;
  session_id: string;
  agent_id: string | null;
}

/** Identities of the things that the collector joins (schemas/identity.ts). */
export function idOf(owner: Owner, kind: string, own: Pick<Identity, 'own_id' | 'phase'>): string {
  return eventId({ ...ownerOf(owner), kind, ...own });
}

/** Identity of what has no id of the harness's own. */
export function idOfPayload(owner: Owner, kind: string, payload_hash: string, ordinal: number): string {
  return eventId({ ...ownerOf(owner), kind, payload_hash, ordinal });
}

function ownerOf({ harness, session_id, agent_id }: Owner): Owner {
  return { harness, session_id, agent_id };
}
