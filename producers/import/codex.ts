/** Codex's rollouts: one JSON Lines file a thread (as `.zst` too), each line what went to or came from the model, or was told beside it. */
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { asPayload, own, type Payload, text } from '../adapters/payload.ts';
import { createAnswers } from './answers.ts';
import { argumentsOf, type Call, message, msOf, note, shown, start, textOf, toolCall } from './drafts.ts';
import type { FileFacts, Importer, Item, Session } from './importer.ts';

const Line = z.looseObject({
  timestamp: z.string().optional(),
  type: z.string(),
  payload: z.record(z.string(), z.unknown()),
});
const Meta = z.looseObject({
  id: z.string(),
  /** The thread's own, but of a subagent its root's. */
  session_id: z.string().nullish(),
  forked_from_id: z.string().nullish(),
  parent_thread_id: z.string().nullish(),
  cwd: z.string().optional(),
  cli_version: z.string().optional(),
  git: z.looseObject({ commit_hash: z.string().nullish() }).nullish(),
});

/** What the harness puts before the model in the user's name. */
const CONTEXT =
  /^\s*<(?:environment_context|user_instructions|turn_aborted|permissions instructions|skills?_instructions|AGENTS)|^# AGENTS\.md instructions/;

/** Events that say again what the model's own items say. */
const AGAIN: ReadonlySet<string> = new Set([
  ...['user_message', 'agent_message', 'agent_reasoning', 'agent_reasoning_raw_content', 'raw_response_item'],
  ...[
    'exec_command_begin',
    'exec_command_end',
    'patch_apply_begin',
    'patch_apply_end',
    'web_search_begin',
    'web_search_end',
  ],
  ...['mcp_tool_call_begin', 'mcp_tool_call_end', 'item_started', 'item_completed'],
]);

export const codex: Importer = {
  format: 'codex',
  recognises: ({ lines }) =>
    lines.some(
      ({ type, payload }) =>
        asPayload(payload) !== null &&
        ['session_meta', 'response_item', 'turn_context', 'event_msg'].includes(String(type)),
    ),
  shape: 'lines',
  open: openRollout,
};

function openRollout(file: FileFacts) {
  let session: Session | null = null;
  let model: string | null = null;
  const open = new Map<string, Call>();
  const answers = createAnswers();

  function record(value: unknown, index: number): Item[] {
    const { timestamp, type, payload } = Line.parse(value);
    const own_id = `line ${index}`;
    if (type === 'session_meta' && session === null) {
      const meta = Meta.parse(payload);
      session = {
        ...{ id: meta.id, original_id: meta.id, harness: 'codex', harness_version: meta.cli_version },
        parent_session_id: meta.forked_from_id ?? meta.parent_thread_id ?? undefined,
        within: withinOf(meta),
      };
      const fields = {
        cwd: meta.cwd ?? null,
        base_commit: meta.git?.commit_hash ?? null,
        source: meta.forked_from_id ? 'fork' : 'import',
      };
      return [told(session, timestamp, type, [start('start', fields, payload)])];
    }
    // a forked rollout repeats what it was forked from, its beginning included
    if (!session) return [{ is: 'refused', at: '', reason: 'a line before any that names its session' }];
    const same = `${timestamp} ${type} ${JSON.stringify(payload)}`;
    if (timestamp !== undefined && file.isRepeated(session, same))
      return [{ is: 'repeated', reason: 'history of another session' }];
    const kind = text(payload, 'type') ?? type;
    if (type === 'turn_context') model = text(payload, 'model') ?? model;
    if (type === 'event_msg' && AGAIN.has(kind))
      return [{ is: 'repeated', reason: 'said by the items of the model' }];
    const drafts =
      type === 'response_item'
        ? itemDrafts(payload, kind, own_id)
        : [note(own_id, kind, { input: asJson(payload) })];
    if (drafts.length === 0) return [{ is: 'repeated', reason: 'a call, told with its result' }];
    return [told(session, timestamp, `${type}.${kind}`, drafts)];
  }

  function itemDrafts(payload: Payload, kind: string, own_id: string): RawDraft[] {
    const id = text(payload, 'call_id') ?? text(payload, 'id') ?? own_id;
    if (kind === 'message') return [said(payload, own_id)];
    if (kind === 'reasoning') return [note(own_id, 'thinking', { text: asText(thoughts(payload)) })];
    if (kind === 'function_call' || kind === 'custom_tool_call') {
      const input = argumentsOf(own(payload, 'arguments') ?? own(payload, 'input'));
      const fields = { message_id: answers.called(own_id) };
      open.set(id, { id, name: text(payload, 'name') ?? null, input, status: null, fields });
      return [];
    }
    if (kind === 'local_shell_call') {
      const fields = { message_id: answers.called(own_id) };
      open.set(id, { id, name: 'local_shell', input: own(payload, 'action'), status: null, fields });
      return [];
    }
    if (kind === 'function_call_output' || kind === 'custom_tool_call_output') {
      const call = open.get(id) ?? { id, name: null, input: undefined, status: null };
      open.delete(id);
      answers.resulted();
      return [answered(call, own(payload, 'output'))];
    }
    if (kind === 'web_search_call')
      return [
        toolCall({
          id,
          name: kind,
          input: own(payload, 'action'),
          status: text(payload, 'status') === 'completed' ? 'ok' : null,
          fields: { message_id: answers.called(own_id) },
        }),
      ];
    return [note(own_id, kind, { input: asJson(payload) })];
  }

  function said(payload: Payload, own_id: string): RawDraft {
    const role = text(payload, 'role');
    const words = textOf(own(payload, 'content')) ?? JSON.stringify(own(payload, 'content')) ?? '';
    if (role === 'assistant') return message(own_id, 'assistant', words, { model });
    if (role === 'user' && !CONTEXT.test(words)) return message(own_id, 'user', words);
    return note(own_id, role === 'user' ? 'context' : 'system_prompt', { text: asText(words) });
  }

  return {
    record: (value: unknown, { index }: { index: number | null }) => record(value, index ?? 0),
    end: (): Item[] =>
      session === null
        ? []
        : [...open.values()].map((call) =>
            told(session, undefined, 'end', [toolCall({ ...call, status: 'interrupted' })]),
          ),
  };
}

function withinOf({ session_id, parent_thread_id }: z.infer<typeof Meta>): string[] {
  return [session_id, parent_thread_id].filter((one) => typeof one === 'string');
}

function told(
  session: Session | null,
  timestamp: string | undefined,
  event: string,
  drafts: RawDraft[],
): Item {
  if (session === null) throw new TypeError('no session');
  return { is: 'told', session, agent_id: null, ms: msOf(timestamp), event, drafts };
}

/** How a call ended stands in its output: as JSON with the exit code beside it, or as words before it. */
function answered(call: Call, given: unknown): RawDraft {
  const parsed = asPayload(argumentsOf(given));
  const metadata = asPayload(parsed && own(parsed, 'metadata')) ?? {};
  const words =
    parsed && typeof own(parsed, 'output') === 'string' ? String(own(parsed, 'output')) : textOf(given);
  const inWords = /(?:^Exit code: |^Process exited with code )(-?\d{1,9})/m.exec(
    words?.slice(0, 400) ?? '',
  )?.[1];
  const code =
    typeof metadata.exit_code === 'number'
      ? metadata.exit_code
      : inWords === undefined
        ? null
        : Number(inWords);
  const seconds = typeof metadata.duration_seconds === 'number' ? metadata.duration_seconds : null;
  const failed = code === null ? own(parsed ?? {}, 'success') === false : code !== 0;
  return toolCall({
    ...call,
    output: words === null ? shown(given) : asText(words),
    result: parsed ? asJson(parsed) : undefined,
    status: failed ? 'error' : code === null ? null : 'ok',
    exit_code: code,
    duration_ms: seconds === null ? null : Math.round(seconds * 1000),
  });
}

function thoughts(payload: Payload): string {
  return [textOf(own(payload, 'summary')), textOf(own(payload, 'content'))].filter((part) => part).join('\n');
}
