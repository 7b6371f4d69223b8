import { STAMPED } from '../adapters/adapter.ts';
import { toolKind } from '../adapters/tool-kind.ts';
import type { Draft, SpoolEntry } from '../draft.ts';
import { endFields, factsOf } from './facts.ts';
import { afterGateNotice } from './gate-policy.ts';
import { callId, onCallEnded, onCallSeen, onCallStarted, releaseCalls } from './join-calls.ts';
import { onLastMessage, onPiece, releaseMessages } from './join-messages.ts';
import { onUnnamedCall } from './pair-calls.ts';
import { idOf, idOfPayload } from './proto.ts';
import type { SessionState } from './session-state.ts';
import {
  type AssembleContext,
  type Assembled,
  begin,
  emit,
  finish,
  isKnown,
  ownerOf,
  partOf,
  type Work,
} from './work.ts';

/** Names under which harnesses tell that an agent's turn is over. */
const TURN_ENDS = new Set([
  'Stop',
  'StopFailure',
  'SubagentStop',
  'AfterAgent',
  'stop',
  'subagentStop',
  'agentStop',
  'Interrupt',
  'session.idle',
  'TaskComplete',
  'TaskCancel',
]);

/**
 * Works one spool entry into a session's state: pure, so that the same entries after a crash give the same
 * events. What waits for its other half stays in the state.
 */
export function assemble(state: SessionState, entry: SpoolEntry, context: AssembleContext): Assembled {
  const work = begin(state, context);
  if (entry.transport === 'http') work.core.http = true;
  bindAgent(work, entry.agent_id);
  releaseBefore(work, entry);
  const used = new Set<string>();
  entry.drafts.forEach((draft, position) => {
    handle(work, entry, draft, identityOf(work, entry, draft, used, position));
  });
  return finish(work);
}

/** Whether an entry tells of nothing but events that were told: what it says need not be worked on then. */
export function isTold(state: SessionState, entry: SpoolEntry, context: AssembleContext): boolean {
  const work = begin(state, context);
  const used = new Set<string>();
  return entry.drafts.every(
    (draft, position) =>
      draft.role === 'event' && isKnown(work, identityOf(work, entry, draft, used, position)),
  );
}

/** Ends a session that has been silent: what is open is told as it is, and the end is said to be concluded. */
export function closeQuiet(
  state: SessionState,
  context: AssembleContext,
  at: { ts: string; lastSeq: number },
): Assembled {
  const work = begin(state, context);
  if (work.core.ended) return finish(work);
  releaseAll(work, at.ts);
  const own = { own_id: 'quiet', phase: String(at.lastSeq) };
  const fields = endFields(work.core, { ts: at.ts, quiet: true });
  const event_id = idOf(ownerOf(work, null), 'session_end', own);
  emit(work, { event_id, type: 'session_end', agent_id: null, part: null, ts: at.ts, fields });
  return finish(work);
}

function identityOf(
  work: Work,
  entry: SpoolEntry,
  draft: Draft,
  used: Set<string>,
  position: number,
): string {
  const owner = ownerOf(work, entry.agent_id);
  const { kind, own_id, phase } = draft;
  const ordinal = phase === STAMPED ? 0 : work.context.ordinal;
  const id = (name: string) =>
    own_id === undefined
      ? idOfPayload(owner, name, entry.payload_hash, ordinal)
      : idOf(owner, name, { own_id, ...(phase === undefined ? {} : { phase }) });
  const first = id(kind);
  if (!used.has(first)) {
    used.add(first);
    return first;
  }
  return id(`${kind}#${position}`);
}

function handle(work: Work, entry: SpoolEntry, draft: Draft, eventId: string): void {
  const { agent_id } = entry;
  const part = partOf(entry, draft);
  const { role, own_id: own, index, final = false } = draft;
  if (role === 'last_message') onLastMessage(work, agent_id, eventId, part);
  else if (role === 'event') onEvent(work, entry, draft, eventId);
  else if (own === undefined) onUnnamedCall(work, agent_id, draft, eventId, part);
  else if (role === 'call_started') onCallStarted(work, agent_id, own, part);
  else if (role === 'call_ended') onCallEnded(work, agent_id, own, part, final);
  else if (role === 'call_seen') onCallSeen(work, agent_id, own, part);
  else onPiece(work, agent_id, { id: own, index: index ?? 0, final }, part);
}

function onEvent(work: Work, entry: SpoolEntry, draft: Draft, eventId: string): void {
  if (isKnown(work, eventId)) return;
  const { agent_id } = entry;
  const { fields } = draft;
  let type = draft.type;
  let own = fields;
  if (type === 'session_start' && agent_id === null) {
    work.core.facts ??= factsOf(fields);
  } else if (type === 'session_end' && agent_id !== null) {
    // a subagent's end is never the session's
    type = 'notice';
    own = { ...fields, kind: 'subagent_end' };
  } else if (type === 'session_end') {
    own = { ...fields, ...endFields(work.core, { ts: entry.ts, quiet: false }) };
  } else if (isPrompt(entry, draft)) {
    work.core.turn += 1;
  } else if (type === 'notice' && typeof fields.kind === 'string') {
    work.core.gate = afterGateNotice(work.core.gate, fields.kind);
  }
  const part = partOf(entry, draft);
  emit(work, { event_id: eventId, type, agent_id, part, fields: own, content: draft.content });
}

function isPrompt(entry: SpoolEntry, draft: Draft): boolean {
  return draft.type === 'message' && draft.fields.role === 'user' && entry.agent_id === null;
}

/** Tells what was waiting for something that this entry shows will not come. Repetitions show nothing. */
function releaseBefore(work: Work, entry: SpoolEntry): void {
  const { agent_id, ts, drafts } = entry;
  const news = (draft: Draft) => !isKnown(work, identityOf(work, entry, draft, new Set(), 0));
  if (agent_id === null && drafts.some((d) => d.role === 'event' && d.type === 'session_end' && news(d))) {
    releaseAll(work, ts);
  } else if (drafts.some((d) => d.role === 'event' && isPrompt(entry, d) && news(d))) {
    releaseCalls(work, { agentId: null, unfinished: true, ts });
    releaseMessages(work, null);
  } else if (TURN_ENDS.has(entry.harness_event) || drafts.some((d) => d.role === 'last_message')) {
    // a subagent's turn is all of it
    releaseCalls(work, { agentId: agent_id, unfinished: agent_id !== null, ts });
  } else {
    const batch = drafts.filter((d) => d.role === 'call_seen').flatMap((d) => d.own_id ?? []);
    if (batch.some((id) => !isKnown(work, callId(work, agent_id, id, 'seen'))))
      releaseCalls(work, { agentId: agent_id, unfinished: false, except: new Set(batch), ts });
  }
}

function releaseAll(work: Work, ts: string): void {
  releaseCalls(work, { agentId: undefined, unfinished: true, ts });
  releaseMessages(work, undefined);
}

/** Which tool call started a subagent: no harness says it, so only where a single one can have. */
function bindAgent(work: Work, agentId: string | null): void {
  if (agentId === null || agentId in work.core.agents) return;
  const taken = new Set(Object.values(work.core.agents));
  const callers = [...work.calls.values()].filter((call) => {
    const name = (call.started ?? call.ended)?.fields.tool_name;
    return typeof name === 'string' && toolKind(name) === 'agent' && !taken.has(call.id);
  });
  const caller = callers.length === 1 ? (callers[0]?.id ?? null) : null;
  work.core.agents = { ...work.core.agents, [agentId]: caller };
}
