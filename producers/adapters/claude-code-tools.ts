import { asJson, asText, notice, type Raw, type RawDraft } from './adapter.ts';
import { rest } from './claude-code-payload.ts';
import { asPayload, count, flag, list, own, type Payload, text } from './payload.ts';

/** What Claude Code tells of one tool call, before it, after it, and as the model is then shown it. */
type Phase = 'started' | 'ended' | 'seen';

const ROLES = { started: 'call_started', ended: 'call_ended', seen: 'call_seen' } as const;

/** A call is known by its id; without one (none was ever seen) each telling of it is an event by itself. */
function call(
  phase: Phase,
  payload: Payload,
  fields: RawDraft['fields'],
  content: RawDraft['content'],
): RawDraft {
  const id = text(payload, 'tool_use_id');
  const type = phase === 'started' ? 'notice' : 'tool_call';
  const input = own(payload, 'tool_input');
  return {
    role: id === undefined ? 'event' : ROLES[phase],
    type,
    kind: 'tool_call',
    fields: {
      ...(phase === 'started' ? { kind: 'call_started' } : {}),
      tool_name: text(payload, 'tool_name') ?? null,
      tool_use_id: id ?? null,
      ...fields,
    },
    content: { ...(input === undefined ? {} : { input: asJson(input) }), ...content },
    ...(id === undefined ? {} : { own_id: id, phase }),
  };
}

export function callStarted(payload: Payload): RawDraft[] {
  return [call('started', payload, {}, {})];
}

/** PostToolUse: the call came to its end; the harness's structured result. */
export function callEnded(payload: Payload): RawDraft[] {
  const response = own(payload, 'tool_response');
  const result = asPayload(response) ?? {};
  const interrupted = flag(result, 'interrupted');
  const fields = {
    status: interrupted ? 'interrupted' : 'ok',
    exit_code: interrupted ? null : exitCodeOfSuccess(payload, result),
    duration_ms: count(payload, 'duration_ms') ?? null,
  };
  return [call('ended', payload, fields, response === undefined ? {} : { result: asJson(response) })];
}

/** Bash reports success for 0 and, with an interpretation beside it, for codes that are no failure (grep's 1). */
function exitCodeOfSuccess(payload: Payload, result: Payload): number | null {
  const known =
    text(payload, 'tool_name') === 'Bash' &&
    text(result, 'stdout') !== undefined &&
    text(result, 'returnCodeInterpretation') === undefined &&
    own(result, 'backgroundTaskId') === undefined &&
    own(result, 'timedOutAfterMs') === undefined;
  return known ? 0 : null;
}

/** PostToolUseFailure: the error text, which begins with the exit code where a command ran. */
export function callFailed(payload: Payload): RawDraft[] {
  const error = text(payload, 'error') ?? '';
  const code = /^Exit code (\d{1,10})(?:\n|$)/.exec(error)?.[1];
  const fields = {
    status: flag(payload, 'is_interrupt') ? 'interrupted' : 'error',
    exit_code: code === undefined ? null : Number(code),
    duration_ms: count(payload, 'duration_ms') ?? null,
  };
  return [call('ended', payload, fields, { result: asText(error) })];
}

export function denied(payload: Payload): RawDraft[] {
  const reason = text(payload, 'reason') ?? null;
  return [
    call('ended', payload, { status: 'denied', reason }, reason === null ? {} : { result: asText(reason) }),
  ];
}

/** How 2.1.332 tells the model that a call was not permitted; no other hook tells it in print mode. */
const DENIALS = [
  /^Permission to use .{1,200} has been denied/s,
  /^Claude requested permissions to /,
  /^The user doesn't want to /,
];

/** What the model is shown says how a call ended whose end is told nowhere else: it was denied, or never ran. */
function statusSeen(response: unknown): RawDraft['fields'] {
  if (typeof response !== 'string') return {};
  if (response.startsWith('<tool_use_error>')) return { status: 'error' };
  return DENIALS.some((form) => form.test(response)) ? { status: 'denied' } : {};
}

/** PostToolBatch: each result as the model is shown it. */
export function callsSeen(payload: Payload): RawDraft[] {
  const calls = list(payload, 'tool_calls')
    .map(asPayload)
    .filter((one) => one !== null);
  if (calls.length === 0) return [notice('unknown_event', rest(payload))];
  return calls.map((one) => {
    const response = own(one, 'tool_response');
    return call('seen', one, statusSeen(response), response === undefined ? {} : { output: shown(response) });
  });
}

function shown(response: unknown): Raw {
  return typeof response === 'string' ? asText(response) : asJson(response);
}
