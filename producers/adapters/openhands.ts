import { BLOCK_REASON } from '../../schemas/block-reason.ts';
import { type Adapter, asText, type Moment, notice, type RawDraft, type Tell } from './adapter.ts';
import { asPayload, entry, flag, own, type Payload, text } from './payload.ts';
import { callEnded, callStarted, prompt, remains, sessionEnd, sessionStart, shownOf } from './telling.ts';

const BASE = [
  'event_type',
  'session_id',
  'working_dir',
  'tool_name',
  'tool_input',
  'tool_response',
  'tool_output',
];

const callOf = (payload: Payload) => ({
  id: text(payload, 'tool_call_id'),
  name: text(payload, 'tool_name'),
  input: own(payload, 'tool_input'),
});

/** An observation says whether it is an error, and of a command its exit code. */
function ended(payload: Payload): RawDraft {
  const response = own(payload, 'tool_response') ?? own(payload, 'tool_output');
  const told = asPayload(response) ?? {};
  const code = own(told, 'exit_code');
  const known = typeof code === 'number' && Number.isInteger(code);
  const failed = flag(told, 'is_error') || flag(told, 'error') || (known && code !== 0);
  return callEnded({
    ...callOf(payload),
    status: failed ? 'error' : 'ok',
    output: shownOf(own(told, 'content') ?? response),
    result: response,
    fields: { exit_code: known ? code : null },
  });
}

const rest = (payload: Payload, told: readonly string[] = []) => remains(payload, [...BASE, ...told]);

/** Hook events of the OpenHands SDK, as in its source of 2026; not measured. */
const EVENTS: Readonly<Record<string, Tell>> = {
  SessionStart: (payload, { facts }) => [
    sessionStart({ cwd: cwdOf(payload) ?? null, source: 'startup' }, facts, rest(payload)),
  ],
  UserPromptSubmit: (payload) => [prompt(text(payload, 'message') ?? '')],
  PreToolUse: (payload) => [callStarted(callOf(payload))],
  PostToolUse: (payload) => [ended(payload)],
  Stop: (payload) => [notice('stop', rest(payload))],
  Notification: (payload) => [
    notice('notification', { text: asText(text(payload, 'message') ?? ''), ...rest(payload, ['message']) }),
  ],
  SessionEnd: (payload) => [
    sessionEnd(text(asPayload(own(payload, 'metadata')) ?? {}, 'reason'), rest(payload)),
  ],
};

const MOMENTS: Readonly<Record<string, Moment>> = { SessionStart: 'start', Stop: 'stop', SessionEnd: 'end' };

const cwdOf = (payload: Payload) => text(payload, 'working_dir');

/** OpenHands: its command line, its local interface and its SDK. */
export const openhands: Adapter = {
  harness: 'openhands',
  sessionId: (payload) => text(payload, 'session_id'),
  agentId: () => undefined,
  event: (payload) => text(payload, 'event_type'),
  drafts: (payload, context) => {
    const tell = entry(EVENTS, text(payload, 'event_type'));
    return tell?.(payload, context) ?? [notice('unknown_event', rest(payload))];
  },
  moment: (payload) => entry(MOMENTS, text(payload, 'event_type')) ?? null,
  cwd: cwdOf,
  // of Claude Code's words it knows `deny` and not `block`
  hold: { by: 'refusal', print: () => JSON.stringify({ decision: 'deny', reason: BLOCK_REASON }) },
};
