/** A session's events as the formats that others read need them: in order, each call once, by agent. */
import { compare } from '../schemas/compare.ts';
import { CONTENT_FIELDS } from '../schemas/content.ts';
import type { TraceEvent } from '../schemas/generated.ts';

/** What stands where content is withheld. */
const WITHHELD = '[WITHHELD]';

/** The main agent (null) or a subagent, and what it said and did. */
export interface AgentEvents {
  agent_id: string | null;
  events: TraceEvent[];
}

/** @returns the main agent first, then subagents in the order in which they began */
export function byAgent(events: readonly TraceEvent[]): AgentEvents[] {
  const agents = new Map<string | null, TraceEvent[]>([[null, []]]);
  for (const event of ordered(events)) {
    const list = agents.get(event.agent_id) ?? [];
    list.push(event);
    agents.set(event.agent_id, list);
  }
  return [...agents].map(([agent_id, list]) => ({ agent_id, events: list }));
}

/** Along the chain; of several chains by time. A call that was concluded and then really ended is told by its end. */
function ordered(events: readonly TraceEvent[]): TraceEvent[] {
  const oneChain = new Set(events.map(({ chain_id }) => chain_id)).size <= 1;
  const key = (event: TraceEvent) => `${event.agent_id}\n${event.tool_use_id}`;
  const ended = Map.groupBy(
    events.filter((one) => one.type === 'tool_call' && one.status !== 'interrupted'),
    key,
  );
  // Of calls without an id nothing says that two are one.
  const isEnded = (call: TraceEvent) =>
    call.tool_use_id !== null && ended.get(key(call))?.some((end) => mayBeOne(call, end)) === true;
  return events
    .filter((one) => one.type !== 'tool_call' || one.status !== 'interrupted' || !isEnded(one))
    .sort((a, b) => (oneChain ? 0 : compare(a.ts, b.ts) || compare(a.chain_id, b.chain_id)) || a.seq - b.seq);
}

/** Calls of two answers are two, also where a harness gave them one id. */
function mayBeOne({ message_id: one }: TraceEvent, { message_id: other }: TraceEvent): boolean {
  return one === null || other === null || one === other;
}

/** Whether any content of a session is withheld, so that its export is not whole. */
export function isPartial(events: readonly TraceEvent[]): boolean {
  return events.some(
    (event) => event.withheld !== null && CONTENT_FIELDS.some((field) => event[`${field}_digest`] !== null),
  );
}

export function said(event: TraceEvent): string {
  return event.text_redacted ?? (event.text_digest === null ? '' : WITHHELD);
}

/** What the model saw of a call's result: else what the harness has of it. Null when nothing came. */
export function outcome(event: TraceEvent): string | null {
  const text = event.output_redacted ?? event.result_redacted;
  return text ?? (event.output_digest === null && event.result_digest === null ? null : WITHHELD);
}

/** A field of content as the JSON object that it is, else nothing. */
export function objectIn(text: string | null): Record<string, unknown> {
  const value = jsonIn(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function jsonIn(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Arguments of a call, which others want to be an object. */
export function argumentsOf(event: TraceEvent): Record<string, unknown> {
  const value = jsonIn(event.input_redacted);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  return value === null ? {} : { value };
}
