import {
  type Adapter,
  type AdapterContext,
  asJson,
  asText,
  type Moment,
  notice,
  printBlock,
  type RawDraft,
  type Tell,
} from './adapter.ts';
import { NOTICES } from './claude-code-notices.ts';
import { BASE, rest } from './claude-code-payload.ts';
import { callEnded, callFailed, callStarted, callsSeen, denied } from './claude-code-tools.ts';
import { count, entry, flag, own, type Payload, text } from './payload.ts';

/** Every event that Claude Code 2.1.332 offers and that is more than a notice; the notices are in NOTICES. */
const EVENTS: Readonly<Record<string, Tell>> = {
  SessionStart: (payload, { facts }) => [
    {
      role: 'event',
      type: 'session_start',
      kind: 'session_start',
      fields: {
        cwd: text(payload, 'cwd') ?? null,
        source: text(payload, 'source') ?? null,
        model: text(payload, 'model') ?? null,
        ...facts,
      },
      content: rest(payload, ['source', 'model', 'agent_type']),
    },
  ],
  UserPromptSubmit: (payload) => [
    {
      role: 'event',
      type: 'message',
      kind: 'prompt',
      fields: { role: 'user', source: text(payload, 'source') ?? null },
      content: { text: asText(text(payload, 'prompt') ?? '') },
    },
  ],
  MessageDisplay: (payload) => {
    const messageId = text(payload, 'message_id');
    const index = count(payload, 'index');
    if (messageId === undefined || index === undefined) return unknown(payload);
    return [
      {
        role: 'piece',
        type: 'message',
        kind: 'message',
        fields: { role: 'assistant', message_id: messageId },
        content: { text: asText(text(payload, 'delta') ?? '') },
        own_id: messageId,
        phase: `piece ${index}`,
        index,
        final: flag(payload, 'final'),
      },
    ];
  },
  PreToolUse: callStarted,
  PostToolUse: callEnded,
  PostToolUseFailure: callFailed,
  PostToolBatch: callsSeen,
  PermissionDenied: denied,
  Stop: (payload) => stopped(payload, 'stop'),
  SubagentStop: (payload) => stopped(payload, 'subagent_stop'),
  StopFailure: (payload) => [
    notice(
      'api_failure',
      {
        text: asText(text(payload, 'error_details') ?? text(payload, 'last_assistant_message') ?? ''),
        ...rest(payload, ['error', 'error_details']),
      },
      { reason: text(payload, 'error') ?? null },
    ),
  ],
  InstructionsLoaded: (payload, { readRules }) => {
    const path = text(payload, 'file_path');
    const rules = path === undefined ? null : readRules(path);
    return [
      notice('rules_loaded', {
        ...(rules === null ? {} : { text: asText(rules) }),
        ...rest(payload),
      }),
    ];
  },
  SessionEnd: (payload) => [
    {
      role: 'event',
      type: 'session_end',
      kind: 'session_end',
      fields: { reason: text(payload, 'reason') ?? null },
      content: rest(payload, ['reason']),
    },
  ],
};

/** A turn's end: its last message, and what else is told of it. The gate decides by the payload itself. */
function stopped(payload: Payload, kind: string): RawDraft[] {
  const last = text(payload, 'last_assistant_message');
  const facts = rest(payload, ['last_assistant_message']);
  const extra = { permission_mode: own(payload, 'permission_mode') };
  const stop = notice(kind, { input: asJson({ ...asObject(facts.input?.value), ...extra }) });
  if (last === undefined) return [stop];
  return [
    {
      role: 'last_message',
      type: 'message',
      kind: 'last_message',
      fields: { role: 'assistant' },
      content: { text: asText(last) },
    },
    stop,
  ];
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function unknown(payload: Payload): RawDraft[] {
  return [notice('unknown_event', rest(payload))];
}

/** Names of the events that have a place of their own. */
export const CLAUDE_CODE_EVENTS: readonly string[] = [...Object.keys(EVENTS), ...Object.keys(NOTICES)];

function tell(payload: Payload, context: AdapterContext): RawDraft[] {
  const name = text(payload, 'hook_event_name');
  const event = entry(EVENTS, name);
  if (event) return event(payload, context);
  const kind = entry(NOTICES, name);
  return kind ? [kind(payload)] : unknown(payload);
}

const MOMENTS: Readonly<Record<string, Moment>> = { SessionStart: 'start', Stop: 'stop', SessionEnd: 'end' };

/** Claude Code, as measured at 2.1.332: which events it sends with which fields. */
export const claudeCode: Adapter = {
  harness: 'claude-code',
  sessionId: (payload) => text(payload, 'session_id'),
  agentId: (payload) => text(payload, 'agent_id'),
  event: (payload) => text(payload, 'hook_event_name'),
  drafts: (payload, context) =>
    tell(payload, context).map((draft) => ({ ...draft, fields: { ...base(payload), ...draft.fields } })),
  moment: (payload) => entry(MOMENTS, text(payload, 'hook_event_name')) ?? null,
  hold: { by: 'refusal', print: printBlock },
  showsMessage: true,
};

function base(payload: Payload): RawDraft['fields'] {
  return Object.fromEntries(
    BASE.flatMap((name) => {
      const value = text(payload, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
