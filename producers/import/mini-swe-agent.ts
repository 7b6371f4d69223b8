/** mini-swe-agent's trajectories: the messages alone (1.x), or a document around them (2.x). */
import { basename } from 'node:path';
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { asPayload, text as field, own, without } from '../adapters/payload.ts';
import { argumentsOf, type Call, message, msOf, note, start, textOf, toolCall } from './drafts.ts';
import type { Importer, Item, Session } from './importer.ts';
import { createOpenCalls } from './open-calls.ts';

const ToolCall = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
});
const Extra = z.looseObject({
  timestamp: z.number().optional(),
  returncode: z.number().nullish(),
  exit_status: z.string().optional(),
  submission: z.string().optional(),
  /** 2.x: the commands as they were read out of the answer. */
  actions: z.array(z.looseObject({ command: z.string().optional() })).optional(),
});
const Message = z.looseObject({
  role: z.string(),
  content: z.unknown().optional(),
  tool_calls: z.array(ToolCall).nullish(),
  tool_call_id: z.string().optional(),
  extra: Extra.optional(),
});
type Message = z.infer<typeof Message>;
/** An item of an answer of OpenAI's Responses API. */
const Output = z.looseObject({
  type: z.string(),
  call_id: z.string().optional(),
  name: z.string().optional(),
  arguments: z.unknown().optional(),
  content: z.unknown().optional(),
});
const Info = z.looseObject({
  mini_version: z.string().optional(),
  config: z
    .looseObject({ model: z.looseObject({ model_name: z.string().optional() }).optional() })
    .optional(),
});

const RETURN_CODE = /^<returncode>(-?\d{1,9})<\/returncode>/;
const COMMAND = /```(?:mswea_bash_command|bash)[^\n]*\n([\s\S]*?)\n?```/;

export const miniSweAgent: Importer = {
  format: 'mini-swe-agent',
  recognises: ({ root, fields, names, elements }) =>
    (root === 'object' && String(fields.trajectory_format).startsWith('mini-swe-agent')) ||
    (root === 'object' && names.has('messages') && 'info' in fields && 'trajectory_format' in fields) ||
    (root === 'array' && elements.some(({ content }) => typeof content === 'string' && isMinis(content))),
  shape: { split: ['messages'] },
  open: ({ path, sha256, document, root }) => {
    const info = Info.safeParse(root.info);
    const session: Session = {
      id: document.id,
      original_id: basename(path).replace(/(?:\.traj)?\.json(?:\.\w{1,8})?$|\.traj$/, ''),
      harness: 'mini-swe-agent',
      harness_version: info.success ? info.data.mini_version : undefined,
    };
    const told = (event: string, ms: number | null, drafts: RawDraft[]): Item => ({
      ...{ is: 'told', session, agent_id: null, ms, event, drafts },
    });
    const open = createOpenCalls();
    let begun = false;
    let asked = false;
    const { messages: _, ...rest } = root;

    function first(): Item[] {
      if (begun) return [];
      begun = true;
      const model = info.success ? (info.data.config?.model?.model_name ?? null) : null;
      return [told('start', null, [start('start', { model }, rest)])];
    }

    /** The calls that an answer makes, kept until they are answered. */
    function calls(one: Message, at: number): void {
      const text = textOf(one.content) ?? '';
      const of = `message ${at}`;
      const fields = { message_id: of };
      const named = one.tool_calls ?? [];
      for (const {
        id,
        function: { name, arguments: given },
      } of named)
        open.begin(id, { id, of, name, input: argumentsOf(given), status: null, fields });
      const command = one.extra?.actions ? one.extra.actions[0]?.command : COMMAND.exec(text)?.[1];
      if (named.length === 0 && command !== undefined)
        open.begin('', { id: `message-${at}`, name: 'bash', input: { command }, status: null, fields });
    }

    function answer(call: Call, one: Message): RawDraft {
      const text = textOf(one.content) ?? '';
      const code =
        one.extra?.returncode ??
        (RETURN_CODE.exec(text)?.[1] === undefined ? null : Number(RETURN_CODE.exec(text)?.[1]));
      const status = code === null ? null : code === 0 ? 'ok' : 'error';
      const result = one.extra === undefined ? undefined : asJson(one.extra);
      return toolCall({ ...call, output: asText(text), result, status, exit_code: code });
    }

    function drafts(one: Message, at: number): RawDraft[] {
      const own = `message ${at}`;
      const text = textOf(one.content) ?? (one.content === null ? '' : JSON.stringify(one.content));
      if (one.role === 'system') return [note(own, 'system_prompt', { text: asText(text) })];
      if (one.role === 'assistant') {
        calls(one, at);
        const { role: _r, content: _c, tool_calls: _t, ...more } = one;
        return text.trim() === '' && open.left().length > 0
          ? []
          : [message(own, 'assistant', text, { message_id: own }, more)];
      }
      if (one.role === 'exit')
        return [note(own, 'exit', { text: asText(text), input: asJson(one.extra ?? {}) })];
      const call = asked ? open.take(one.tool_call_id ?? '') : undefined;
      if (call) return [answer(call, one)];
      asked = true;
      return [message(own, 'user', text)];
    }

    return {
      record(value, { index }) {
        const one = Message.parse(withRole(value));
        const at = index ?? 0;
        const made = drafts(one, at);
        // an answer that only calls is told by its calls
        if (made.length === 0) return [...first(), { is: 'repeated', reason: 'told by its calls' }];
        return [...first(), told(one.role, msOf(one.extra?.timestamp), made)];
      },
      end: (whole) => {
        const left = open.left().map((call) => toolCall({ ...call, status: 'interrupted' }));
        // what a beginning says of the run, its later states say anew
        if (document.grown) left.push(note(`info ${sha256}`, 'info', { input: asJson(rest) }));
        return [...first(), ...(whole && left.length > 0 ? [told('end', null, left)] : [])];
      },
    };
  },
};

const PLACED: ReadonlySet<string> = new Set(['output', 'call_id']);

/** 2.x with OpenAI's Responses API: an answer is a list of items, and what a call gave has no role. */
function withRole(value: unknown): unknown {
  const message = asPayload(value);
  if (!message || own(message, 'role') !== undefined) return value;
  const rest = without(message, PLACED);
  if (field(message, 'type') === 'function_call_output')
    return {
      ...rest,
      role: 'tool',
      tool_call_id: field(message, 'call_id'),
      content: own(message, 'output'),
    };
  const items = z.array(Output).safeParse(own(message, 'output'));
  if (!items.success) return value;
  const of = (type: string) => items.data.filter((item) => item.type === type);
  return {
    ...rest,
    role: 'assistant',
    content: of('message')
      .map(({ content }) => textOf(content) ?? '')
      .join('\n'),
    tool_calls: of('function_call').map(({ call_id: id, name, arguments: given }) => ({
      id,
      function: { name, arguments: given },
    })),
    reasoning: of('reasoning'),
  };
}

function isMinis(content: string): boolean {
  return RETURN_CODE.test(content) || content.includes('COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT');
}
