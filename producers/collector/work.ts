import type { SpoolEntry } from '../draft.ts';
import type { Contents, Owner, Proto, Scalars } from './proto.ts';
import type { Core, OpenCall, OpenMessage, Part, SessionState } from './session-state.ts';

/** What the assembler asks of its surroundings; all of it gives the same answer when asked again. */
export interface AssembleContext {
  session_id: string;
  /** How often this payload came before in its registration. */
  ordinal: number;
  /** Whether an identity has been told of in this session. */
  known: (eventId: string) => boolean;
  /** Appendix A's keyed hash. */
  keyedHash: (text: string) => string;
  /** The floor of pattern redaction. */
  redact: (text: string) => { text: string; hits: number };
  /** Bytes of one content field that are kept. */
  limit: number;
}

/** A session's state while one entry is worked in: a copy, so that the state before it stays whole. */
export interface Work {
  context: AssembleContext;
  core: Core;
  calls: Map<string, OpenCall>;
  messages: Map<string, OpenMessage>;
  events: Proto[];
  /** Identities told of by this entry, those of no event of their own included. */
  absorbed: string[];
  told: Set<string>;
}

export interface Assembled {
  state: SessionState;
  events: Proto[];
  absorbed: string[];
}

export function begin(state: SessionState, context: AssembleContext): Work {
  return {
    context,
    core: { ...state.core },
    calls: new Map(state.calls),
    messages: new Map(state.messages),
    events: [],
    absorbed: [],
    told: new Set(),
  };
}

export function finish(work: Work): Assembled {
  const { core, calls, messages, events, absorbed } = work;
  return { state: { core, calls, messages }, events, absorbed };
}

export function isKnown(work: Work, id: string): boolean {
  return work.told.has(id) || work.context.known(id);
}

/** Notes that an identity brings no event of its own. */
export function absorb(work: Work, id: string): void {
  if (isKnown(work, id)) return;
  work.told.add(id);
  work.absorbed.push(id);
}

export interface Telling {
  event_id: string;
  also?: readonly string[];
  type: Proto['type'];
  agent_id: string | null;
  /** What a hook reported; absent for what the collector concluded. */
  part: Omit<Part, 'fields' | 'content'> | null;
  /** For what has no part. */
  ts?: string;
  fields: Scalars;
  content?: Contents;
  synthetic?: boolean;
}

/** Adds an event unless its identity is known. @returns whether it is news */
export function emit(work: Work, telling: Telling): boolean {
  if (isKnown(work, telling.event_id)) return false;
  const { event_id, also = [], part, agent_id, fields, content = {} } = telling;
  const parent = agent_id === null ? undefined : work.core.agents[agent_id];
  work.events.push({
    event_id,
    also: also.filter((id) => !isKnown(work, id)),
    ts: telling.ts ?? part?.ts ?? '',
    type: telling.type,
    turn: work.core.turn,
    harness: part?.harness ?? work.core.harness,
    harness_event: part?.harness_event ?? null,
    agent_id,
    transport: part?.transport ?? null,
    synthetic: telling.synthetic ?? part === null,
    fields: parent ? { parent_tool_use_id: parent, ...fields } : fields,
    content,
  });
  for (const id of [event_id, ...also]) work.told.add(id);
  work.core.ended = telling.type === 'session_end';
  return true;
}

export function ownerOf(work: Work, agentId: string | null): Owner {
  return { harness: work.core.harness, session_id: work.context.session_id, agent_id: agentId };
}

/** What an entry says of itself, as part of a thing that is joined. */
export function partOf(entry: SpoolEntry, draft: SpoolEntry['drafts'][number]): Part {
  const { ts, harness, harness_event, transport } = entry;
  return { ts, harness, harness_event, transport, fields: draft.fields, content: draft.content };
}
