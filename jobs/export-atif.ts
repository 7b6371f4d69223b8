/**
 * A session as an ATIF trajectory. One that was imported from ATIF (producers/import/atif.ts) comes out as it went
 * in; any other becomes ATIF 1.7, subagents inside.
 */
import type { TraceEvent } from '../schemas/generated.ts';
import { argumentsOf, byAgent, jsonIn, objectIn, outcome, said } from './export-session.ts';

type Fields = Record<string, unknown>;

const VERSION = 'ATIF-v1.7';

export function toAtif(events: readonly TraceEvent[]): Fields {
  const [main, ...subagents] = byAgent(events);
  const own = main?.events ?? [];
  const begin = own.find(({ type }) => type === 'session_start');
  const kept = objectIn(begin?.input_redacted ?? null);
  const isAtif = typeof kept.schema_version === 'string' || 'agent' in kept;
  const trajectory = isAtif ? kept : rootOf(own, begin);
  const inner = subagents.map(({ agent_id, events: theirs }) => {
    const start = theirs.find(({ kind }) => kind === 'subagent_start');
    const root = isAtif
      ? objectIn(start?.input_redacted ?? null)
      : { ...rootOf(theirs, begin), trajectory_id: agent_id };
    return { ...root, steps: stepsOf(theirs, isAtif) };
  });
  return {
    ...trajectory,
    steps: stepsOf(own, isAtif),
    ...(inner.length > 0 ? { subagent_trajectories: inner } : {}),
  };
}

function rootOf(events: readonly TraceEvent[], begin: TraceEvent | undefined): Fields {
  const first = begin ?? events[0];
  const model = begin?.model ?? events.find((event) => event.model !== null)?.model ?? null;
  return {
    schema_version: VERSION,
    session_id: first?.session_id ?? '',
    agent: {
      name: first?.harness ?? 'unknown',
      version: first?.harness_version ?? 'unknown',
      ...(model === null ? {} : { model_name: model }),
    },
  };
}

interface Step extends Fields {
  source: string;
  tool_calls?: Fields[];
  observation?: { results: Fields[] };
}

function stepsOf(events: readonly TraceEvent[], isAtif: boolean): Fields[] {
  const steps: Step[] = [];
  let calls: TraceEvent[] = [];
  let thoughts: string[] = [];
  const finish = () => {
    const step = steps.at(-1);
    if (step && calls.length > 0) addCalls(step, calls);
    calls = [];
  };
  for (const event of events) {
    const begun = isAtif ? stepOfAtif(event) : stepOf(event, thoughts);
    if (begun) {
      finish();
      steps.push({ step_id: steps.length + 1, ...begun });
      if (begun.source === 'agent') thoughts = [];
    } else if (event.type === 'tool_call') {
      if (steps.at(-1)?.source !== 'agent' && !isAtif) {
        finish();
        steps.push({ step_id: steps.length + 1, ...agentStep(event, '', thoughts) });
        thoughts = [];
      }
      calls.push(event);
    } else if (event.kind === 'thinking') thoughts.push(said(event));
  }
  finish();
  return steps;
}

function stepOf(event: TraceEvent, thoughts: readonly string[]): Step | null {
  if (event.kind === 'system_prompt') return { ...timeOf(event), source: 'system', message: said(event) };
  if (event.type !== 'message') return null;
  if (event.role === 'assistant') return agentStep(event, said(event), thoughts);
  return { ...timeOf(event), source: 'user', message: said(event) };
}

function agentStep(event: TraceEvent, message: string, thoughts: readonly string[]): Step {
  return {
    ...timeOf(event),
    source: 'agent',
    message,
    ...(event.type === 'message' && event.model !== null ? { model_name: event.model } : {}),
    ...(thoughts.length > 0 ? { reasoning_content: thoughts.join('\n') } : {}),
  };
}

function timeOf({ ts, ts_inferred }: TraceEvent): Fields {
  return ts_inferred === true ? {} : { timestamp: ts };
}

/** A step as it came in: its own fields stand in `input`. */
function stepOfAtif(event: TraceEvent): Step | null {
  const kept = objectIn(event.input_redacted);
  const { message_absent: absent, ...rest } = kept;
  if (event.type !== 'message' && !(event.type === 'notice' && 'step_id' in kept)) return null;
  const source =
    event.type === 'message'
      ? event.role === 'user'
        ? 'user'
        : 'agent'
      : event.kind === 'system_prompt'
        ? 'system'
        : (event.kind ?? '');
  return {
    ...timeOf(event),
    source,
    ...(absent === true ? {} : { message: said(event) }),
    ...rest,
  };
}

function addCalls(step: Step, calls: readonly TraceEvent[]): void {
  const places = step.tool_calls;
  const results = [...(step.observation?.results ?? [])];
  const idOf = (event: TraceEvent, at: number) => event.tool_use_id ?? `call-${at + 1}`;
  step.tool_calls = calls.map((event, at) => ({
    tool_call_id: idOf(event, at),
    function_name: event.tool_name ?? 'unknown',
    arguments: argumentsOf(event),
    ...(places ? places[at] : extraOf(event)),
  }));
  for (const [at, event] of calls.entries()) {
    const place = results.find((one) => one.source_call_id === event.tool_use_id && isPlace(one.content));
    if (place) place.content = Array.isArray(place.content) ? jsonIn(event.output_redacted) : outcome(event);
    else if (!places) {
      const content = outcome(event);
      if (content !== null) results.push({ source_call_id: idOf(event, at), content });
    }
  }
  if (step.observation || results.length > 0) step.observation = { ...step.observation, results };
}

/** Where content was before it went to its call. */
function isPlace(content: unknown): boolean {
  return content === null || (Array.isArray(content) && content.length === 0);
}

/** How the call ended, which ATIF has no field for. */
function extraOf({ status, exit_code, duration_ms }: TraceEvent): Fields {
  const told = Object.entries({ status, exit_code, duration_ms }).filter(([, value]) => value !== null);
  return told.length === 0 ? {} : { extra: Object.fromEntries(told) };
}
