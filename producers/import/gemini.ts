/** Gemini CLI's sessions: one document, or (newer) JSON Lines that begin with the session and may take back or set what came before. */
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { asPayload, own, type Payload } from '../adapters/payload.ts';
import { message, msOf, note, shown, start, textOf, toolCall } from './drafts.ts';
import type { Importer, Item, Reader, Session } from './importer.ts';

const ToolCall = z.looseObject({
  id: z.string(),
  name: z.string(),
  args: z.unknown().optional(),
  result: z.unknown().optional(),
  status: z.string(),
  resultDisplay: z.unknown().optional(),
  agentId: z.string().optional(),
});
const Message = z.looseObject({
  id: z.string(),
  timestamp: z.string().optional(),
  type: z.string(),
  content: z.unknown().optional(),
  model: z.string().optional(),
  toolCalls: z.array(ToolCall).optional(),
  thoughts: z
    .array(z.looseObject({ subject: z.string().optional(), description: z.string().optional() }))
    .optional(),
});
const Meta = z.looseObject({
  sessionId: z.string(),
  startTime: z.string().optional(),
  kind: z.string().optional(),
});

const isSession = (fields: Payload) =>
  typeof fields.sessionId === 'string' && typeof fields.projectHash === 'string';

/** A session in one document. */
export const gemini: Importer = {
  format: 'gemini',
  recognises: ({ root, fields, names, lines }) =>
    root === 'object' && isSession(fields) && names.has('messages') && lines.length < 2,
  shape: { split: ['messages'] },
  open: ({ root, path }) => {
    const tell = teller(Meta.parse(root), path);
    let begun = false;
    const first = (): Item[] => (begun ? [] : [tell.start(root)]);
    return {
      record(value) {
        const items = [...first(), tell.message(value)];
        begun = true;
        return items;
      },
      end: () => first(),
    };
  },
};

/** A session in lines. */
export const geminiLines: Importer = {
  format: 'gemini',
  recognises: ({ lines: [first] }) =>
    first !== undefined && isSession(first) && !Array.isArray(first.messages),
  shape: 'lines',
  open: ({ path }): Reader => {
    let tell: ReturnType<typeof teller> | null = null;
    return {
      record(value, { index }) {
        const line = asPayload(value) ?? {};
        if (!tell && isSession(line)) {
          tell = teller(Meta.parse(line), path);
          return [tell.start(line)];
        }
        if (!tell) return [{ is: 'refused', at: '', reason: 'a line before any that names its session' }];
        if (typeof own(line, 'id') === 'string') return [tell.message(line)];
        return [tell.other(line, index ?? 0)];
      },
      end: () => [],
    };
  },
};

function teller({ sessionId, startTime, kind }: z.infer<typeof Meta>, path: string) {
  // a subagent's file lies in a folder that is named after the session that began it
  const parent = kind === 'subagent' ? basename(dirname(path)) : undefined;
  const session: Session = {
    ...{ id: sessionId, original_id: sessionId, harness: 'gemini' },
    ...(parent === undefined ? {} : { parent_session_id: parent, within: [parent] }),
  };
  const told = (ms: number | null, event: string, drafts: RawDraft[]): Item => ({
    ...{ is: 'told', session, agent_id: null, ms, event, drafts },
  });
  return {
    start({ messages: _, ...rest }: Payload): Item {
      return told(msOf(startTime), 'session', [start('start', {}, rest)]);
    },
    message(value: unknown): Item {
      const one = Message.parse(value);
      return told(msOf(one.timestamp), one.type, draftsOf(one));
    },
    /** A line that sets or takes back (`$rewindTo`): what was said stays said. */
    other(line: Payload, index: number): Item {
      const name = Object.keys(line)[0] ?? 'unknown';
      const kind = name === '$rewindTo' ? 'rewound' : name === '$set' ? 'session_set' : name;
      return told(null, name, [note(`line ${index}`, kind, { input: asJson(line) })]);
    },
  };
}

/** Names of 0.x for how a call ended. */
const ENDS: Readonly<Record<string, string>> = { success: 'ok', error: 'error', cancelled: 'denied' };

function draftsOf({
  id,
  type,
  content,
  model,
  toolCalls = [],
  thoughts = [],
  timestamp: _,
  ...rest
}: z.infer<typeof Message>): RawDraft[] {
  const text = textOf(content) ?? JSON.stringify(content) ?? '';
  const thinking = thoughts.map(({ subject, description }, at) =>
    note(`${id} thought ${at}`, 'thinking', {
      text: asText([subject, description].filter(Boolean).join(': ')),
    }),
  );
  const calls = toolCalls.map((call) =>
    toolCall({
      ...{ id: call.id, name: call.name, input: call.args, status: ENDS[call.status] ?? 'interrupted' },
      fields: { message_id: id },
      output: shown(responseIn(call.result)),
      result: call.resultDisplay === undefined ? undefined : asJson(call.resultDisplay),
    }),
  );
  if (type === 'user') return [message(id, 'user', text, { message_id: id }, rest)];
  if (type !== 'gemini') return [note(id, type, { text: asText(text), input: asJson(rest) })];
  const said =
    text === '' && calls.length > 0
      ? []
      : [message(id, 'assistant', text, { message_id: id, model: model ?? null }, rest)];
  return [...thinking, ...said, ...calls];
}

/** What the model saw stands in `functionResponse.response.output` (or `.error`) of the result's parts. */
function responseIn(result: unknown): unknown {
  const part = asPayload(Array.isArray(result) ? result[0] : result);
  const response = asPayload(asPayload(part?.functionResponse)?.response);
  return response?.output ?? response?.error ?? result;
}
