import {
  type Adapter,
  asText,
  type Moment,
  notice,
  printBlock,
  type RawDraft,
  type Tell,
} from './adapter.ts';
import { entry, flag, own, type Payload, text } from './payload.ts';
import { callEnded, callStarted, lastMessage, prompt, remains, sessionEnd, startTold } from './telling.ts';

/** What every payload has, and an event has fields for or does not need. */
const BASE = [
  ...['session_id', 'transcript_path', 'cwd', 'hook_event_name', 'model', 'permission_mode', 'turn_id'],
  ...['agent_id', 'agent_type'],
];
const CALL = [...BASE, 'tool_name', 'tool_input', 'tool_use_id', 'tool_response'];

const callOf = (payload: Payload) => ({
  id: text(payload, 'tool_use_id'),
  name: text(payload, 'tool_name'),
  input: own(payload, 'tool_input'),
});

const told =
  (kind: string, textField?: string, reasonField?: string) =>
  (payload: Payload): RawDraft[] => {
    const said = textField === undefined ? undefined : text(payload, textField);
    const reason = reasonField === undefined ? undefined : text(payload, reasonField);
    const rest = remains(payload, [...BASE, textField ?? '', reasonField ?? '']);
    return [
      notice(
        kind,
        { ...(said === undefined ? {} : { text: asText(said) }), ...rest },
        { reason: reason ?? null },
      ),
    ];
  };

function stopped(payload: Payload, kind: string): RawDraft[] {
  const last = text(payload, 'last_assistant_message');
  const stop = notice(kind, remains(payload, [...BASE, 'last_assistant_message']));
  return last === undefined ? [stop] : [lastMessage(last), stop];
}

/** Codex CLI's hook events (measured at 0.171.0). */
const EVENTS: Readonly<Record<string, Tell>> = {
  SessionStart: startTold(BASE),
  UserPromptSubmit: (payload) => [prompt(text(payload, 'prompt') ?? '')],
  PreToolUse: (payload) => [callStarted(callOf(payload))],
  PostToolUse: (payload) => {
    // of a command it tells the output, and neither its exit code nor the lines that the model is shown before it
    const status = text(payload, 'tool_name') === 'Bash' ? null : 'ok';
    return [callEnded({ ...callOf(payload), status, result: own(payload, 'tool_response') })];
  },
  PermissionRequest: (payload) => [
    notice('permission_request', remains(payload, [...CALL.filter((name) => name !== 'tool_input')]), {
      tool_name: text(payload, 'tool_name') ?? null,
    }),
  ],
  PreCompact: told('compaction_begins', undefined, 'trigger'),
  PostCompact: told('compaction', undefined, 'trigger'),
  SubagentStart: told('subagent_start'),
  SubagentStop: (payload) => stopped(payload, 'subagent_stop'),
  Stop: (payload) => stopped(payload, 'stop'),
  Interrupt: told('interrupted', undefined, 'reason'),
  SessionEnd: (payload) => [sessionEnd(text(payload, 'reason'), remains(payload, [...BASE, 'reason']))],
};

const MOMENTS: Readonly<Record<string, Moment>> = { SessionStart: 'start', Stop: 'stop', SessionEnd: 'end' };
const eventOf = (payload: Payload) => text(payload, 'hook_event_name');

/** OpenAI's Codex CLI. Its payloads have Claude Code's form and fields of their own. */
export const codex: Adapter = {
  harness: 'codex',
  sessionId: (payload) => text(payload, 'session_id'),
  agentId: (payload) => text(payload, 'agent_id'),
  event: eventOf,
  drafts: (payload, context) => {
    const tell = entry(EVENTS, eventOf(payload));
    const drafts = tell?.(payload, context) ?? [notice('unknown_event', remains(payload, BASE))];
    return drafts.map((draft) => ({ ...draft, fields: { ...baseOf(payload), ...draft.fields } }));
  },
  moment: (payload) => entry(MOMENTS, eventOf(payload)) ?? null,
  hold: { by: 'refusal', print: printBlock },
  showsMessage: true,
};

function baseOf(payload: Payload): RawDraft['fields'] {
  const [model, agent_type, prompt_id] = ['model', 'agent_type', 'turn_id'].map((name) =>
    text(payload, name),
  );
  return {
    ...(model === undefined ? {} : { model }),
    ...(agent_type === undefined ? {} : { agent_type }),
    ...(prompt_id === undefined ? {} : { prompt_id }),
  };
}

/** Whether a payload of Claude Code's form is Codex's: its turns have ids, its sessions lie elsewhere or nowhere. */
export function isCodex(payload: Payload): boolean {
  const transcript = own(payload, 'transcript_path');
  if (transcript === null && !flag(payload, 'is_background_agent')) return true;
  if (typeof transcript === 'string' && /[\\/](?:\.codex|rollout-)/.test(transcript)) return true;
  const turn = own(payload, 'turn_id') !== undefined && eventOf(payload) !== 'MessageDisplay';
  return turn && own(payload, 'model') !== undefined;
}
