/** Chat messages in OpenAI's shape, a conversation a line: `{messages: [...]}`. */
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { asPayload } from '../adapters/payload.ts';
import { argumentsOf, message, note, shown, start, textOf, toolCall } from './drafts.ts';
import type { Importer, Item, Session } from './importer.ts';
import { createOpenCalls, type OpenCalls } from './open-calls.ts';

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
/** As jobs/export-chat.ts writes it. */
const Metadata = z.looseObject({ session_id: z.string().min(1), agent_id: z.string().nullish() });
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
      const origin = originOf(rest.metadata);
      const session: Session = {
        ...{ id, harness: 'openai', ...origin },
        original_id: name ?? origin.original_id ?? id,
      };
      const told = (event: string, drafts: RawDraft[]): Item => ({
        ...{ is: 'told', session, agent_id: null, ms: null, event, drafts },
      });
      const open = createOpenCalls();
      const items = messages.map((one, at): Item => {
        const drafts = draftsOf(one, at, open);
        return drafts.length > 0 ? told(one.role, drafts) : { is: 'repeated', reason: 'told by its calls' };
      });
      const left = open.left().map((call) => toolCall({ ...call, status: 'interrupted' }));
      const ends = left.length > 0 ? [told('end', left)] : [];
      return [told('conversation', [start('start', { model: rest.model ?? null }, rest)]), ...items, ...ends];
    },
    end: () => [],
  }),
};

/** Of a conversation that says which session it is of, as one that was exported here does: that one, or a subagent of it. */
function originOf(metadata: unknown): Partial<Session> {
  const { data } = Metadata.safeParse(metadata);
  if (!data) return {};
  const { session_id: id, agent_id: agent } = data;
  const within = [id];
  return agent == null
    ? { original_id: id, within }
    : { original_id: `${id}.${agent}`, parent_session_id: id, within };
}

function draftsOf(one: Message, at: number, open: OpenCalls): RawDraft[] {
  const { role, content, tool_calls: calls, tool_call_id: callId = '', ...rest } = one;
  const own = `message ${at}`;
  const text = content == null ? '' : (textOf(content) ?? JSON.stringify(content));
  if (role === 'system' || role === 'developer') return [note(own, 'system_prompt', { text: asText(text) })];
  if (role === 'user') return [message(own, 'user', text)];
  if (role === 'assistant') {
    const ids = new Set<string>();
    for (const [nth, { id, function: called }] of (calls ?? []).entries()) {
      // the first keeps the identity that it has without others
      const of = ids.has(id) ? `${own}#${nth}` : own;
      ids.add(id);
      open.begin(id, {
        ...{ id, of, name: called.name, input: argumentsOf(called.arguments), status: null },
        fields: { message_id: own },
      });
    }
    return text === '' && (calls?.length ?? 0) > 0
      ? []
      : [message(own, 'assistant', text, { message_id: own }, rest)];
  }
  const call = role === 'tool' ? open.take(callId) : undefined;
  if (!call) return [note(own, role, { text: asText(text), input: asJson(rest) })];
  return [toolCall({ ...call, output: shown(content) ?? asText(''), status: null })];
}
