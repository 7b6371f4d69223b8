/** SWE-agent's history of messages: what was said before the first step, and of a `.traj` without steps all there is. */
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { argumentsOf, message, note, textOf, toolCall } from './drafts.ts';
import { createOpenCalls } from './open-calls.ts';
import { statusOf, toolOf } from './swe-agent-words.ts';

export const Message = z.looseObject({
  role: z.string(),
  content: z.unknown().optional(),
  message_type: z.string().optional(),
  is_demo: z.boolean().optional(),
  thought: z.string().nullish(),
  action: z.string().nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string(),
        function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
      }),
    )
    .nullish()
    .catch(null),
  tool_call_ids: z.array(z.string()).nullish().catch(null),
});
type Message = z.infer<typeof Message>;

const wordsOf = ({ content }: Message) =>
  content == null ? '' : (textOf(content) ?? JSON.stringify(content));

export function openingDraft(one: Message, at: number): RawDraft {
  const text = wordsOf(one);
  const own = `opening ${at}`;
  if (one.is_demo || one.message_type === 'demonstration')
    return note(own, 'demonstration', { text: asText(text) });
  if (one.role === 'system') return note(own, 'system_prompt', { text: asText(text) });
  return message(own, 'user', text);
}

export interface History {
  /** @param at its place @returns nothing for a message that only calls: its calls tell it */
  drafts: (value: unknown, at: number) => RawDraft[];
  /** Calls that have no answer. */
  end: () => RawDraft[];
}

/** The conversation of a `.traj` that has no steps. */
export function readHistory(): History {
  const open = createOpenCalls();
  let answered = false;

  function answer(one: Message, at: number): RawDraft[] {
    const own = `history ${at}`;
    const text = wordsOf(one) || one.thought || '';
    const common = { of: own, status: null, fields: { message_id: own } };
    for (const { id, function: called } of one.tool_calls ?? [])
      open.begin(id, { ...common, id, name: called.name, input: argumentsOf(called.arguments) });
    const { action } = one;
    if (!one.tool_calls?.length && action?.trim())
      open.begin('', { ...common, id: `step-${at}`, name: toolOf(action), input: { command: action } });
    return text.trim() === '' && open.left().length > 0
      ? []
      : [message(own, 'assistant', text, { message_id: own })];
  }

  function observed(one: Message, at: number): RawDraft[] {
    const text = wordsOf(one);
    const calls = (one.tool_call_ids ?? ['']).flatMap((id) => open.take(id) ?? []);
    if (calls.length > 0)
      return calls.map((call) => toolCall({ ...call, output: asText(text), status: statusOf(text) }));
    const own = `history ${at}`;
    if (one.role === 'user') return [message(own, 'user', text)];
    return [
      note(own, one.role === 'system' ? 'system_prompt' : one.role, {
        text: asText(text),
        input: asJson(one),
      }),
    ];
  }

  return {
    drafts(value, at) {
      const one = Message.parse(value);
      const isAnswer = one.role === 'assistant' && one.is_demo !== true;
      if (!answered && !isAnswer) return [openingDraft(one, at)];
      answered = true;
      return isAnswer ? answer(one, at) : observed(one, at);
    },
    end: () => open.left().map((call) => toolCall({ ...call, status: 'interrupted' })),
  };
}
