/** OpenCode's `opencode export`: one document of a session, its messages with their parts. */
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { asPayload } from '../adapters/payload.ts';
import { message, msOf, note, start, toolCall } from './drafts.ts';
import type { Importer, Item, Session } from './importer.ts';

const Time = z.looseObject({
  created: z.number().optional(),
  start: z.number().optional(),
  end: z.number().optional(),
});
const State = z.looseObject({
  status: z.string(),
  input: z.unknown().optional(),
  output: z.string().optional(),
  error: z.string().optional(),
  metadata: z.looseObject({ exit: z.number().nullish() }).nullish(),
  time: Time.optional(),
});
const Part = z.looseObject({
  id: z.string().optional(),
  type: z.string(),
  text: z.string().optional(),
  synthetic: z.boolean().optional(),
  tool: z.string().optional(),
  callID: z.string().optional(),
  state: State.optional(),
});
type Part = z.infer<typeof Part>;
const Message = z.looseObject({
  info: z.looseObject({
    id: z.string(),
    role: z.string(),
    modelID: z.string().optional(),
    time: Time.optional(),
  }),
  parts: z.array(Part),
});
const Info = z.looseObject({
  id: z.string(),
  version: z.string().optional(),
  parentID: z.string().optional(),
  directory: z.string().optional(),
});

export const opencode: Importer = {
  format: 'opencode',
  recognises: ({ root, fields, names }) =>
    root === 'object' &&
    names.has('messages') &&
    Info.safeParse(fields.info).success &&
    asPayload(fields.info)?.time !== undefined,
  shape: { split: ['messages'] },
  open: ({ root }) => {
    const info = Info.parse(root.info);
    const session: Session = {
      ...{ id: info.id, original_id: info.id, harness: 'opencode', harness_version: info.version },
      parent_session_id: info.parentID,
      within: info.parentID === undefined ? [] : [info.parentID],
    };
    const told = (ms: number | null, event: string, drafts: RawDraft[]): Item => ({
      ...{ is: 'told', session, agent_id: null, ms, event, drafts },
    });
    const created = msOf(asPayload(info.time)?.created);
    let begun = false;
    const first = (): Item[] => {
      if (begun) return [];
      begun = true;
      return [told(created, 'info', [start('start', { cwd: info.directory ?? null }, info)])];
    };
    return {
      record(value) {
        const { info: head, parts } = Message.parse(value);
        const { id, role, modelID, time, ...rest } = head;
        const model = modelID ?? null;
        const own = (part: Part, at: number) => part.id ?? `${id} ${at}`;
        let steps = 0;
        const drafts = parts.map((part, at) => {
          if (part.type === 'step-start') steps++;
          // a message may hold several answers of the model
          const answer = steps < 2 ? id : `${id} ${steps}`;
          return draftOf(part, own(part, at), { id: answer, role, model });
        });
        drafts.push(
          note(id, role === 'user' ? 'prompt_details' : 'answer_details', { input: asJson(rest) }, { model }),
        );
        return [...first(), told(msOf(time?.created), `message.${role}`, drafts)];
      },
      end: () => first(),
    };
  },
};

const ENDS: Readonly<Record<string, string>> = {
  completed: 'ok',
  error: 'error',
  pending: 'interrupted',
  running: 'interrupted',
};

function draftOf(
  part: Part,
  own: string,
  { id, role, model }: { id: string; role: string; model: string | null },
): RawDraft {
  const { type, text = '', state } = part;
  if (type === 'text' && role === 'user')
    return part.synthetic === true
      ? note(own, 'meta', { text: asText(text) })
      : message(own, 'user', text, { message_id: id });
  if (type === 'text') return message(own, 'assistant', text, { message_id: id, model });
  if (type === 'reasoning') return note(own, 'thinking', { text: asText(text) });
  if (type !== 'tool' || !state) return note(own, type, { input: asJson(part) });
  const { status, input, output, error, time, metadata } = state;
  const exit = metadata?.exit ?? null;
  const end = ENDS[status] ?? null;
  const seen = output ?? error;
  const ran = time?.start !== undefined && time.end !== undefined ? time.end - time.start : null;
  return toolCall({
    ...{ id: part.callID ?? own, name: part.tool ?? null, input, exit_code: exit, duration_ms: ran },
    fields: { message_id: id },
    output: seen === undefined ? undefined : asText(seen),
    result: metadata ? asJson(metadata) : undefined,
    status: end === 'ok' && exit !== null && exit !== 0 ? 'error' : end,
  });
}
