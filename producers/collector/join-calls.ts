import { afterToolCall } from './gate-policy.ts';
import { type Contents, idOf, type Scalars } from './proto.ts';
import { keyOf, type OpenCall, type Part } from './session-state.ts';
import { emit, isKnown, ownerOf, type Work } from './work.ts';

/**
 * The three things told of one tool call: that it started (a notice at once), how it ended, and what the model
 * saw of it. End and sight become one `tool_call`, in whatever order they come.
 */
type Phase = 'started' | 'ended' | 'interrupted' | 'seen';

export function callId(work: Work, agentId: string | null, id: string, phase: Phase): string {
  return idOf(ownerOf(work, agentId), 'call', { own_id: id, phase });
}

export function onCallStarted(work: Work, agentId: string | null, id: string, part: Part): void {
  const { status: _, ...fields } = part.fields;
  const news = emit(work, {
    event_id: callId(work, agentId, id, 'started'),
    type: 'notice',
    agent_id: agentId,
    part,
    fields: { ...fields, tool_use_id: id, kind: 'call_started' },
    content: part.content,
  });
  if (!news) return;
  work.core.gate = afterToolCall(work.core.gate);
  if (
    (['ended', 'interrupted', 'seen'] as const).some((phase) =>
      isKnown(work, callId(work, agentId, id, phase)),
    )
  )
    return;
  update(work, agentId, id, { started: part });
}

/** @param final the harness tells nothing more of the call: it waits for no sight of it */
export function onCallEnded(work: Work, agentId: string | null, id: string, part: Part, final = false): void {
  if (isKnown(work, callId(work, agentId, id, 'ended'))) return;
  work.core.gate = afterToolCall(work.core.gate);
  const before = work.calls.get(keyOf(agentId, id));
  if (before?.ended) return;
  const call = update(work, agentId, id, { ended: part });
  if (call.seen || final) tell(work, call);
}

export function onCallSeen(work: Work, agentId: string | null, id: string, part: Part): void {
  if (isKnown(work, callId(work, agentId, id, 'seen'))) return;
  const before = work.calls.get(keyOf(agentId, id));
  if (before?.seen) return;
  const call: OpenCall = { ...(before ?? { id, agent_id: agentId }), seen: part };
  if (call.ended || isKnown(work, callId(work, agentId, id, 'ended'))) tell(work, call);
  else work.calls.set(keyOf(agentId, id), call);
}

function update(work: Work, agentId: string | null, id: string, change: Partial<OpenCall>): OpenCall {
  const key = keyOf(agentId, id);
  const call = { ...(work.calls.get(key) ?? { id, agent_id: agentId }), ...change };
  work.calls.set(key, call);
  return call;
}

/** What of the open calls can wait no longer. */
export interface Release {
  /** Whose; undefined: everyone's. */
  agentId: string | null | undefined;
  /** Calls that never ended are given up too. */
  unfinished: boolean;
  except?: ReadonlySet<string>;
  /** Time of what ends the wait. */
  ts: string;
}

export function releaseCalls(work: Work, release: Release): void {
  for (const call of [...work.calls.values()]) {
    if (release.agentId !== undefined && call.agent_id !== release.agentId) continue;
    if (release.except?.has(call.id)) continue;
    // what the model was shown is over, whether or not its end was told
    if (call.ended || call.seen || release.unfinished) tell(work, call, release.ts);
  }
}

/** Turns an open call into what can be said of it. */
function tell(work: Work, call: OpenCall, ts?: string): void {
  const { id, agent_id, started, ended, seen } = call;
  work.calls.delete(keyOf(agent_id, id));
  const seenId = callId(work, agent_id, id, 'seen');
  const also = seen ? [seenId] : [];
  const common = { type: 'tool_call', agent_id, also } as const;
  if (ended) {
    // null is a harness that does not say how
    const fields = fieldsOf(call, ended.fields.status === null ? {} : { status: 'ok' });
    const event_id = callId(work, agent_id, id, 'ended');
    emit(work, { ...common, event_id, part: ended, fields, content: contentOf(call) });
  } else if (seen && isKnown(work, callId(work, agent_id, id, 'ended'))) {
    // its call was told of already
    const { status: _, ...rest } = seen.fields;
    const fields = { ...rest, tool_use_id: id, kind: 'call_seen' };
    emit(work, { event_id: seenId, type: 'notice', agent_id, part: seen, fields, content: seen.content });
  } else if (seen) {
    // denied, or refused before it ran: the harness tells no end of such a call, only what the model is shown
    const fields = fieldsOf(call, { status: 'error' });
    emit(work, { ...common, event_id: seenId, part: seen, fields, content: contentOf(call) });
  } else if (started && !isKnown(work, callId(work, agent_id, id, 'ended'))) {
    const fields = { ...fieldsOf(call, {}), status: 'interrupted' };
    const event_id = callId(work, agent_id, id, 'interrupted');
    const when = ts ?? started.ts;
    emit(work, { ...common, event_id, part: null, ts: when, fields, content: contentOf(call) });
  }
}

function fieldsOf({ id, started, ended, seen }: OpenCall, defaults: Scalars): Scalars {
  const fields: Scalars = { ...defaults };
  for (const part of [seen, started, ended]) {
    for (const [name, value] of Object.entries(part?.fields ?? {})) if (value !== null) fields[name] = value;
  }
  const { kind: _, ...rest } = fields;
  return { ...rest, tool_use_id: id };
}

function contentOf({ started, ended, seen }: OpenCall): Contents {
  return { ...seen?.content, ...started?.content, ...ended?.content, ...outputOf(seen) };
}

/** The model's view is the batch's, whatever else was told. */
function outputOf(seen: Part | undefined): Contents {
  return seen?.content.output ? { output: seen.content.output } : {};
}
