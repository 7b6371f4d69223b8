/**
 * A session as an ATIF trajectory. One that was imported from ATIF (producers/import/atif.ts) comes out as it went
 * in; any other becomes ATIF 1.7, subagents inside.
 */
import type { TraceEvent } from '../schemas/generated.ts';
import { argumentsOf, byAgent, jsonIn, objectIn, outcome, said } from './export-session.ts';
import { type Answer, stepsOf } from './export-steps.ts';

type Fields = Record<string, unknown>;

const VERSION = 'ATIF-v1.7';

export function toAtif(events: readonly TraceEvent[]): Fields {
  const [main, ...subagents] = byAgent(events);
  const own = main?.events ?? [];
  const begin = own.find(({ type }) => type === 'session_start');
  // a trajectory that had grown when it was imported again says of itself anew what its beginning said
  const last = own.findLast(({ kind }) => kind === 'trajectory') ?? begin;
  const kept = objectIn(last?.input_redacted ?? null);
  const isAtif = typeof kept.schema_version === 'string' || 'agent' in kept;
  const trajectory = isAtif ? kept : rootOf(own, begin);
  const inner = subagents.map(({ agent_id, events: theirs }) => {
    const start = theirs.find(({ kind }) => kind === 'subagent_start');
    const root = isAtif
      ? objectIn(start?.input_redacted ?? null)
      : { ...rootOf(theirs, begin), trajectory_id: agent_id };
    return { ...root, steps: isAtif ? stepsOfAtif(theirs) : stepsMade(theirs) };
  });
  return {
    ...trajectory,
    steps: isAtif ? stepsOfAtif(own) : stepsMade(own),
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

/** As they came in: an event a step, and after it the step's calls. */
function stepsOfAtif(events: readonly TraceEvent[]): Fields[] {
  const steps: { step: Step; calls: TraceEvent[] }[] = [];
  for (const event of events) {
    const step = stepOfAtif(event);
    if (step) steps.push({ step: { step_id: steps.length + 1, ...step }, calls: [] });
    else if (event.type === 'tool_call') steps.at(-1)?.calls.push(event);
  }
  return steps.map(({ step, calls }) => withCalls(step, calls, (call) => call.tool_use_id));
}

function stepsMade(events: readonly TraceEvent[]): Fields[] {
  let unnamed = 0;
  return stepsOf(events).map((step, at) => {
    const step_id = at + 1;
    if (step.is !== 'answer')
      return { step_id, ...timeOf(step.event), source: step.is, message: said(step.event) };
    const names = new Map(step.calls.map((call) => [call, call.tool_use_id ?? `call-${++unnamed}`]));
    return withCalls({ step_id, ...answerStep(step) }, step.calls, (call) => names.get(call) ?? null);
  });
}

function answerStep({ said: text, calls: [call], thoughts }: Answer): Step {
  const first = text ?? call;
  return {
    ...(first ? timeOf(first) : {}),
    source: 'agent',
    message: text ? said(text) : '',
    ...(text && text.model !== null ? { model_name: text.model } : {}),
    ...(thoughts.length > 0 ? { reasoning_content: thoughts.map(said).join('\n') } : {}),
  };
}

function timeOf({ ts, ts_inferred }: TraceEvent): Fields {
  return ts_inferred === true ? {} : { timestamp: ts };
}

/** A step as it came in: its own fields stand in `input`. */
function stepOfAtif(event: TraceEvent): Step | null {
  const kept = objectIn(event.input_redacted);
  const { message_absent: absent, ...rest } = kept;
  // of an answer that is calls alone there is no message; its own fields may be withheld or cut
  const isStep = event.kind === 'agent' || 'step_id' in kept;
  if (event.type !== 'message' && !(event.type === 'notice' && isStep)) return null;
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

function withCalls(
  step: Step,
  calls: readonly TraceEvent[],
  idOf: (event: TraceEvent) => string | null,
): Fields {
  if (calls.length === 0) return step;
  const places = step.tool_calls;
  const results = [...(step.observation?.results ?? [])];
  const tool_calls = calls.map((event, at) => ({
    tool_call_id: idOf(event),
    function_name: event.tool_name ?? 'unknown',
    arguments: argumentsOf(event),
    ...(places ? places[at] : extraOf(event)),
  }));
  for (const event of calls) {
    const place = results.find((one) => one.source_call_id === event.tool_use_id && isPlace(one.content));
    if (place) place.content = Array.isArray(place.content) ? jsonIn(event.output_redacted) : outcome(event);
    else if (!places) {
      const content = outcome(event);
      if (content !== null) results.push({ source_call_id: idOf(event), content });
    }
  }
  const observation =
    step.observation || results.length > 0 ? { observation: { ...step.observation, results } } : {};
  return { ...step, tool_calls, ...observation };
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
