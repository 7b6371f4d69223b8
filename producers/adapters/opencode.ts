import {
  type Adapter,
  asText,
  type Moment,
  notice,
  printBlock,
  type RawDraft,
  type Tell,
} from './adapter.ts';
import { asPayload, count, entry, own, type Payload, text } from './payload.ts';
import {
  callEnded,
  callStarted,
  message,
  prompt,
  remains,
  sessionEnd,
  sessionStart,
  shownOf,
} from './telling.ts';

/** Payloads of OpenCode are our own plugin's (cli/init/opencode-plugin.ts): it sends what OpenCode's hooks and bus tell. */
const BASE = ['opencode_event', 'opencode_version', 'session_id', 'agent_id', 'agent', 'model', 'cwd'];

const callOf = (payload: Payload) => ({
  id: text(payload, 'call_id'),
  name: text(payload, 'tool'),
  input: own(payload, 'args'),
});

function toolEnded(payload: Payload): RawDraft {
  const metadata = asPayload(own(payload, 'metadata')) ?? {};
  const exit = own(metadata, 'exit');
  const code = typeof exit === 'number' && Number.isInteger(exit) ? exit : null;
  // of an MCP server's tool, in the place of the others
  const content = own(payload, 'content');
  return callEnded({
    ...callOf(payload),
    status: code === null || code === 0 ? 'ok' : 'error',
    output: own(payload, 'output') ?? shownOf(content),
    result: content ?? { title: own(payload, 'title'), metadata },
    fields: { exit_code: code, duration_ms: count(payload, 'duration_ms') ?? null },
  });
}

const told =
  (kind: string, reasonField: string): Tell =>
  (payload) => [
    notice(kind, remains(payload, [...BASE, reasonField]), { reason: text(payload, reasonField) ?? null }),
  ];

/** What the plugin sends, named after OpenCode's own hooks and events (measured at 1.18.33). */
const EVENTS: Readonly<Record<string, Tell>> = {
  'session.start': (payload, { facts }) => [
    sessionStart(
      { cwd: text(payload, 'cwd') ?? null, source: text(payload, 'source') ?? null },
      facts,
      remains(payload, [...BASE, 'source']),
    ),
  ],
  'chat.message': (payload) => [
    prompt(text(payload, 'text') ?? '', idOf(payload), text(payload, 'message_id')),
  ],
  'text.complete': (payload) => [
    message(text(payload, 'text') ?? '', idOf(payload), text(payload, 'part_id')),
  ],
  'tool.execute.before': (payload) => [callStarted(callOf(payload))],
  'tool.execute.after': (payload) => [toolEnded(payload)],
  'tool.error': (payload) => [
    callEnded({
      ...callOf(payload),
      status: 'error',
      output: text(payload, 'error') ?? '',
      fields: { duration_ms: count(payload, 'duration_ms') ?? null },
    }),
  ],
  'message.completed': (payload) => [notice('usage', remains(payload, BASE))],
  'subagent.start': told('subagent_start', 'title'),
  'subagent.stop': told('subagent_stop', 'status'),
  'session.aborted': (payload) => [notice('interrupted', remains(payload, BASE))],
  'session.idle': (payload) => [notice('stop', remains(payload, BASE))],
  'session.error': (payload) => [
    notice(
      'api_failure',
      { text: asText(text(payload, 'message') ?? '') },
      { reason: text(payload, 'name') ?? null },
    ),
  ],
  'session.compacted': told('compaction', 'trigger'),
  'permission.asked': told('permission_request', 'permission'),
  'session.end': (payload) => [sessionEnd(text(payload, 'reason'))],
};

function idOf(payload: Payload): RawDraft['fields'] {
  const id = text(payload, 'message_id');
  return id === undefined ? {} : { message_id: id };
}

const MOMENTS: Readonly<Record<string, Moment>> = {
  'session.start': 'start',
  'session.idle': 'stop',
  'session.end': 'end',
};

const eventOf = (payload: Payload) => text(payload, 'opencode_event');

/** OpenCode, through a plugin of ours. */
export const opencode: Adapter = {
  harness: 'opencode',
  sessionId: (payload) => text(payload, 'session_id'),
  agentId: (payload) => text(payload, 'agent_id'),
  event: eventOf,
  drafts: (payload, context) => {
    const model = text(payload, 'model');
    const drafts = entry(EVENTS, eventOf(payload))?.(payload, context) ?? [
      notice('unknown_event', remains(payload, BASE)),
    ];
    return drafts.map((draft) => ({
      ...draft,
      fields: { ...(model === undefined ? {} : { model }), ...draft.fields },
    }));
  },
  moment: (payload) => entry(MOMENTS, eventOf(payload)) ?? null,
  version: (payload) => text(payload, 'opencode_version'),
  // it has stopped: our plugin gives it the reason as its next prompt
  hold: { by: 'prompt', print: printBlock },
};
