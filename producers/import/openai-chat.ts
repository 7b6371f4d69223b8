/** Chat messages in OpenAI's shape, a conversation a line: `{messages: [...]}`. */
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { asPayload } from '../adapters/payload.ts';
import { argumentsOf, type Call, message, note, shown, start, textOf, toolCall } from './drafts.ts';
import type { Importer, Item, Session } from './importer.ts';

const ToolCall = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
});
const Message = z.looseObject({
  role: z.string(),
  content: z.unknown().optional(),
  tool_calls: z.array(ToolCall).nullish(),
  tool_call_id: z.string().optional(),
  name: z.string().optional(),
});
const Line = z.looseObject({
  messages: z.array(Message),
  id: z.string().optional(),
  model: z.string().optional(),
});
type Message = z.infer<typeof Message>;

export const openaiChat: Importer = {
  format: 'openai',
  recognises: ({ lines }) =>
    Array.isArray(lines[0]?.messages) && asPayload(lines[0].messages[0])?.role !== undefined,
  shape: 'lines',
  open: ({ identify }) => ({
    record(value, { index }) {
      const { messages, id: name, ...rest } = Line.parse(value);
      const id = identify({ value, parts: messages, index, name });
      const session: Session = { id, original_id: name ?? id, harness: 'openai' };
      const told = (event: string, drafts: RawDraft[]): Item => ({
        ...{ is: 'told', session, agent_id: null, ms: null, event, drafts },
      });
      const open = new Map<string, Call>();
      const items = messages.map((one, at): Item => {
        const drafts = draftsOf(one, at, open);
        return drafts.length > 0 ? told(one.role, drafts) : { is: 'repeated', reason: 'told by its calls' };
      });
      const left = [...open.values()].map((call) => toolCall({ ...call, status: 'interrupted' }));
      const ends = left.length > 0 ? [told('end', left)] : [];
      return [told('conversation', [start('start', { model: rest.model ?? null }, rest)]), ...items, ...ends];
    },
    end: () => [],
  }),
};

function draftsOf(one: Message, at: number, open: Map<string, Call>): RawDraft[] {
  const { role, content, tool_calls: calls, tool_call_id: callId = '', ...rest } = one;
  const own = `message ${at}`;
  const text = content == null ? '' : (textOf(content) ?? JSON.stringify(content));
  if (role === 'system' || role === 'developer') return [note(own, 'system_prompt', { text: asText(text) })];
  if (role === 'user') return [message(own, 'user', text)];
  if (role === 'assistant') {
    for (const {
      id,
      function: { name, arguments: given },
    } of calls ?? [])
      open.set(id, {
        id,
        of: own,
        name,
        input: argumentsOf(given),
        status: null,
        fields: { message_id: own },
      });
    return text === '' && (calls?.length ?? 0) > 0
      ? []
      : [message(own, 'assistant', text, { message_id: own }, rest)];
  }
  const call = open.get(callId);
  if (role !== 'tool' || !call) return [note(own, role, { text: asText(text), input: asJson(rest) })];
  open.delete(callId);
  return [toolCall({ ...call, output: shown(content) ?? asText(''), status: null })];
}
