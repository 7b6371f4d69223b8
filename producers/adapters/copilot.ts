import { type Adapter, asText, type Moment, notice, printBlock, type Tell } from './adapter.ts';
import { asPayload, entry, own, type Payload, text } from './payload.ts';
import { callEnded, callStarted, lastMessage, prompt, remains, sessionEnd, startTold } from './telling.ts';

/**
 * GitHub Copilot CLI sends each event in one of two forms, by how its name is written where it is registered:
 * `PreToolUse` with snake_case fields (so also from a `.claude/settings.json`), `preToolUse` with camelCase fields
 * and no name at all. Both become the first form here, so that an event registered both ways is one.
 */
function normal(payload: Payload): Payload {
  const fields = Object.fromEntries(Object.entries(payload).map(([name, value]) => [snake(name), value]));
  const time = own(fields, 'timestamp');
  const at = typeof time === 'string' ? Date.parse(time) : time;
  const [input, args, result] = ['tool_input', 'tool_args', 'tool_result'].map((name) => own(fields, name));
  const { tool_args: _, ...rest } = fields;
  return {
    ...rest,
    hook_event_name: text(fields, 'hook_event_name') ?? namedIn(fields) ?? nameOf(fields),
    timestamp: typeof at === 'number' && Number.isFinite(at) ? at : null,
    ...(input === undefined && args === undefined ? {} : { tool_input: parsed(input ?? args) }),
    ...(asPayload(result) ? { tool_result: snakeKeys(asPayload(result) ?? {}) } : {}),
  };
}

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const snakeKeys = (value: Payload) =>
  Object.fromEntries(Object.entries(value).map(([name, inner]) => [snake(name), inner]));

/** Arguments are JSON text in one form, and parsed in the other. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** The line that a command's result ends with. */
const ENDED = /<shellId: [^>\n]{1,64} completed with exit code (\d{1,10})>\s*$/;

function exitCode(output: unknown): number | null {
  const code = typeof output === 'string' ? ENDED.exec(output)?.[1] : undefined;
  return code === undefined ? null : Number(code);
}

/** The name of an event that is sent without one, by the fields that only it has. */
const BY_FIELDS: readonly [string, readonly string[]][] = [
  ['PostToolUse', ['tool_name', 'tool_result']],
  ['PostToolUseFailure', ['tool_name', 'error']],
  ['PreToolUse', ['tool_name']],
  ['ErrorOccurred', ['error']],
  ['SubagentStop', ['agent_name', 'stop_reason']],
  ['SubagentStart', ['agent_name']],
  ['Stop', ['stop_reason']],
  ['PreCompact', ['trigger']],
  ['SessionEnd', ['reason']],
  ['SessionStart', ['source']],
  ['UserPromptSubmit', ['prompt']],
];

/** `permissionRequest` is sent in one form only, with its name in `hookName`. */
function namedIn(fields: Payload): string | undefined {
  const name = text(fields, 'hook_name');
  return name ? `${name.slice(0, 1).toUpperCase()}${name.slice(1)}` : undefined;
}

function nameOf(fields: Payload): string {
  return BY_FIELDS.find(([, names]) => names.every((name) => own(fields, name) !== undefined))?.[0] ?? '';
}

const BASE = [
  ...['session_id', 'timestamp', 'cwd', 'hook_event_name', 'hook_name', 'transcript_path'],
  ...['permission_mode', 'stop_hook_active', 'agent_id', 'agent_type', 'parent_agent_id'],
];
const callOf = (payload: Payload) => ({
  id: text(payload, 'tool_use_id'),
  name: text(payload, 'tool_name'),
  input: own(payload, 'tool_input'),
});
const STATUS: Readonly<Record<string, 'ok' | 'denied'>> = {
  success: 'ok',
  denied: 'denied',
  rejected: 'denied',
};

/** Its hook events (measured at 1.0.102; refusals, errors and compaction as documented). */
const EVENTS: Readonly<Record<string, Tell>> = {
  SessionStart: startTold(BASE),
  UserPromptSubmit: (payload) => [prompt(text(payload, 'prompt') ?? '')],
  PreToolUse: (payload) => [callStarted(callOf(payload))],
  PostToolUse: (payload) => {
    const result = asPayload(own(payload, 'tool_result')) ?? {};
    const status = STATUS[text(result, 'result_type') ?? 'success'] ?? 'error';
    const output = own(result, 'text_result_for_llm') ?? own(payload, 'tool_response');
    const exit_code = exitCode(output);
    const failed = status === 'ok' && exit_code !== null && exit_code !== 0;
    return [
      callEnded({ ...callOf(payload), status: failed ? 'error' : status, output, fields: { exit_code } }),
    ];
  },
  PostToolUseFailure: (payload) => [
    callEnded({ ...callOf(payload), status: 'error', result: text(payload, 'error') ?? '' }),
  ],
  // a subagent has a stop of its own before the one that its parent is told of
  Stop: (payload) => [
    notice(text(payload, 'agent_id') === undefined ? 'stop' : 'agent_stop', remains(payload, BASE)),
  ],
  SubagentStart: (payload) => [notice('subagent_start', remains(payload, BASE))],
  SubagentStop: (payload) => {
    const said = text(payload, 'last_assistant_message') ?? text(payload, 'response');
    const stop = notice('subagent_stop', remains(payload, [...BASE, 'last_assistant_message', 'response']));
    return said === undefined ? [stop] : [lastMessage(said), stop];
  },
  PreCompact: (payload) => [
    notice('compaction_begins', remains(payload, [...BASE, 'trigger']), {
      reason: text(payload, 'trigger') ?? null,
    }),
  ],
  ErrorOccurred: (payload) => {
    const error = asPayload(own(payload, 'error')) ?? {};
    return [
      notice(
        'error_occurred',
        { text: asText(text(error, 'message') ?? '') },
        { reason: text(error, 'name') ?? null },
      ),
    ];
  },
  PermissionRequest: (payload) => [
    notice('permission_request', remains(payload, [...BASE, 'tool_name']), {
      tool_name: text(payload, 'tool_name') ?? null,
    }),
  ],
  Notification: (payload) => [
    notice('notification', {
      text: asText(text(payload, 'message') ?? ''),
      ...remains(payload, [...BASE, 'message']),
    }),
  ],
  SessionEnd: (payload) => [sessionEnd(text(payload, 'reason'), remains(payload, [...BASE, 'reason']))],
};

const MOMENTS: Readonly<Record<string, Moment>> = { SessionStart: 'start', Stop: 'stop', SessionEnd: 'end' };
const eventOf = (payload: Payload) => text(normal(payload), 'hook_event_name');

/** What a subagent's own hooks name as their session is the subagent: its parent's is the session that it belongs to. */
function sessionOf(payload: Payload): string | undefined {
  const plain = normal(payload);
  const id = text(plain, 'session_id');
  return id !== undefined && id === text(plain, 'agent_id') ? (text(plain, 'parent_agent_id') ?? id) : id;
}

/** GitHub Copilot CLI, and the agent of VS Code, which sends the same. */
export const copilot: Adapter = {
  harness: 'copilot',
  sessionId: sessionOf,
  agentId: (payload) => text(payload, 'agent_id') ?? text(payload, 'agentId'),
  event: eventOf,
  drafts: (payload, context) => {
    const plain = normal(payload);
    const tell = entry(EVENTS, eventOf(payload));
    const drafts = tell?.(plain, context) ?? [notice('unknown_event', remains(plain, BASE))];
    const agent_type = text(plain, 'agent_type');
    return agent_type === undefined
      ? drafts
      : drafts.map((draft) => ({ ...draft, fields: { agent_type, ...draft.fields } }));
  },
  moment: (payload) => entry(MOMENTS, eventOf(payload)) ?? null,
  identity: (payload) => {
    const plain = normal(payload);
    return JSON.stringify(Object.entries(plain).sort(([a], [b]) => (a < b ? -1 : 1)));
  },
  hold: { by: 'refusal', print: printBlock },
  stamped: true,
};
