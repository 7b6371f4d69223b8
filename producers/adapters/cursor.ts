import { BLOCK_REASON } from '../../schemas/block-reason.ts';
import { type Adapter, asText, notice, printBlock, type RawDraft, STAMPED, type Tell } from './adapter.ts';
import { asPayload, count, entry, flag, list, own, type Payload, text } from './payload.ts';
import { callEnded, callStarted, message, prompt, remains, sessionEnd, sessionStart } from './telling.ts';

/** Cursor runs Claude Code's registrations too, under Claude Code's names: both names are one event. */
const ITS_NAMES: Readonly<Record<string, string>> = {
  SessionStart: 'sessionStart',
  SessionEnd: 'sessionEnd',
  UserPromptSubmit: 'beforeSubmitPrompt',
  PreToolUse: 'preToolUse',
  PostToolUse: 'postToolUse',
  PostToolUseFailure: 'postToolUseFailure',
  Stop: 'stop',
  SubagentStart: 'subagentStart',
  SubagentStop: 'subagentStop',
  PreCompact: 'preCompact',
};

const BASE = [
  ...[
    'conversation_id',
    'generation_id',
    'session_id',
    'model',
    'model_id',
    'model_params',
    'hook_event_name',
  ],
  ...['cursor_version', 'workspace_roots', 'user_email', 'transcript_path', 'cwd'],
];

const callOf = (payload: Payload) => ({
  id: text(payload, 'tool_use_id'),
  name: text(payload, 'tool_name'),
  input: own(payload, 'tool_input'),
  fields: { duration_ms: count(payload, 'duration') ?? null },
});

/** The result, which is JSON in a string; of a command it says the exit code. */
function ended(payload: Payload): RawDraft {
  const output = own(payload, 'tool_output') ?? own(payload, 'tool_response');
  const code = count(parsed(output), 'exitCode');
  const call = callOf(payload);
  return callEnded({
    ...call,
    status: code === undefined || code === 0 ? 'ok' : 'error',
    result: output,
    fields: { ...call.fields, exit_code: code ?? null },
  });
}

function parsed(value: unknown): Payload {
  if (typeof value !== 'string') return asPayload(value) ?? {};
  try {
    return asPayload(JSON.parse(value)) ?? {};
  } catch {
    return {};
  }
}

function failed(payload: Payload): RawDraft {
  const error = text(payload, 'error_message') ?? text(payload, 'error') ?? '';
  const denied = text(payload, 'failure_type') === 'permission_denied';
  const status = denied ? 'denied' : flag(payload, 'is_interrupt') ? 'interrupted' : 'error';
  const call = callOf(payload);
  const reason = text(payload, 'failure_type') ?? null;
  return callEnded({ ...call, status, result: error, fields: { ...call.fields, reason } });
}

/** One prompt a generation, whoever registered for it. */
const ofGeneration = (payload: Payload, what: string) => {
  const generation = text(payload, 'generation_id');
  return generation === undefined ? undefined : `${generation} ${what}`;
};

/** Cursor's hook events, as documented for 3.7; not measured. Not asked for: what tells a tool call a second time. */
const EVENTS: Readonly<Record<string, Tell>> = {
  sessionStart: (payload, { facts }) => [
    sessionStart(
      { cwd: cwdOf(payload) ?? null, source: text(payload, 'source') ?? 'startup' },
      facts,
      remains(payload, [...BASE, 'source']),
    ),
  ],
  beforeSubmitPrompt: (payload) => [
    prompt(text(payload, 'prompt') ?? '', {}, ofGeneration(payload, 'prompt')),
    ...(list(payload, 'attachments').length === 0
      ? []
      : [notice('attachments', remains(payload, [...BASE, 'prompt']))]),
  ],
  preToolUse: (payload) => [callStarted(callOf(payload))],
  postToolUse: (payload) => [ended(payload)],
  postToolUseFailure: (payload) => [failed(payload)],
  afterAgentResponse: (payload) => [message(text(payload, 'text') ?? '')],
  subagentStart: (payload) => [
    notice('subagent_start', remains(payload, BASE), { reason: text(payload, 'subagent_type') ?? null }),
  ],
  subagentStop: (payload) => [
    notice('subagent_stop', remains(payload, BASE), { reason: text(payload, 'status') ?? null }),
  ],
  preCompact: (payload) => [
    notice('compaction_begins', remains(payload, [...BASE, 'trigger']), {
      reason: text(payload, 'trigger') ?? null,
    }),
  ],
  stop: (payload) => [
    notice('stop', remains(payload, [...BASE, 'status']), { reason: text(payload, 'status') ?? null }),
  ],
  sessionEnd: (payload) => [sessionEnd(text(payload, 'reason'), remains(payload, [...BASE, 'reason']))],
  afterAgentThought: (payload) => [
    notice(
      'thought',
      { text: asText(text(payload, 'text') ?? '') },
      { duration_ms: count(payload, 'duration_ms') ?? null },
    ),
  ],
};

function eventOf(payload: Payload): string | undefined {
  const name = text(payload, 'hook_event_name');
  return entry(ITS_NAMES, name) ?? name;
}

/** Within a generation the same payload again is the same event; a session may begin and end in one more than once. */
function isOnce(payload: Payload): boolean {
  return Boolean(text(payload, 'generation_id')) && !/^session/.test(eventOf(payload) ?? '');
}

function cwdOf(payload: Payload): string | undefined {
  const [root] = list(payload, 'workspace_roots');
  return text(payload, 'cwd') ?? (typeof root === 'string' ? root : undefined);
}

/** Cursor, and its command line, which tells less (docs/reference/harnesses.md). */
export const cursor: Adapter = {
  harness: 'cursor',
  sessionId: (payload) => text(payload, 'conversation_id') ?? text(payload, 'session_id'),
  agentId: (payload) => text(payload, 'agent_id'),
  event: eventOf,
  drafts: (payload, context) => {
    const tell = entry(EVENTS, eventOf(payload));
    const model = text(payload, 'model_id') ?? text(payload, 'model');
    const drafts = tell?.(payload, context) ?? [notice('unknown_event', remains(payload, BASE))];
    return drafts.map((draft) => ({
      ...draft,
      ...(draft.own_id === undefined && isOnce(payload) ? { phase: STAMPED } : {}),
      fields: { ...(model === undefined ? {} : { model }), ...draft.fields },
    }));
  },
  moment: (payload) => {
    const name = eventOf(payload);
    if (name === 'sessionStart') return 'start';
    // a turn that was aborted or failed is over: no follow-up is taken
    if (name === 'stop') return (text(payload, 'status') ?? 'completed') === 'completed' ? 'stop' : null;
    return name === 'sessionEnd' ? 'end' : null;
  },
  cwd: cwdOf,
  version: (payload) => text(payload, 'cursor_version'),
  identity: (payload) =>
    JSON.stringify(
      Object.entries({ ...payload, hook_event_name: eventOf(payload) }).sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  // it refuses nothing: what is said becomes the next prompt
  hold: {
    by: 'prompt',
    print: (payload) =>
      text(payload, 'hook_event_name') === 'Stop'
        ? printBlock()
        : JSON.stringify({ followup_message: BLOCK_REASON }),
  },
};
