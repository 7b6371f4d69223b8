/** OpenHands before its SDK: one array of actions and observations. */
import { basename } from 'node:path';
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { asPayload } from '../adapters/payload.ts';
import { type Answers, createAnswers } from './answers.ts';
import { type Call, message, msOf, note, start, toolCall } from './drafts.ts';
import type { Importer, Item, Session } from './importer.ts';

const Event = z.looseObject({
  id: z.union([z.number(), z.string()]).nullish(),
  timestamp: z.string().nullish(),
  source: z.string().nullish(),
  message: z.string().nullish(),
  action: z.string().nullish(),
  observation: z.string().nullish(),
  content: z.string().nullish(),
  args: z.record(z.string(), z.unknown()).nullish(),
  extras: z.record(z.string(), z.unknown()).nullish(),
  cause: z.union([z.number(), z.string()]).nullish(),
  success: z.boolean().nullish(),
  tool_call_metadata: z
    .looseObject({
      tool_call_id: z.string().nullish(),
      function_name: z.string().nullish(),
      model_response: z.looseObject({ id: z.string().nullish() }).nullish(),
    })
    .nullish(),
});
type Event = z.infer<typeof Event>;

/** Actions that call no tool. */
const NOT_CALLS: ReadonlySet<string> = new Set([
  'system',
  'recall',
  'change_agent_state',
  'condensation',
  'null',
  'finish',
  'reject',
  'message',
]);

export const openhands: Importer = {
  format: 'openhands',
  recognises: ({ root, elements }) =>
    root === 'array' &&
    elements.some(
      ({ action, observation, source, args, extras }) =>
        (typeof action === 'string' && asPayload(args) !== null) ||
        (typeof observation === 'string' && (asPayload(extras) !== null || typeof source === 'string')),
    ),
  shape: { split: [] },
  open: ({ path, document }) => {
    const session: Session = {
      ...{
        id: document.id,
        original_id: basename(path).replace(/\.json(?:\.\w{1,8})?$/, ''),
        harness: 'openhands',
      },
    };
    const open = new Map<string, Call>();
    const answers = createAnswers();
    let begun = false;
    const told = (ms: number | null, event: string, drafts: RawDraft[]): Item => ({
      ...{ is: 'told', session, agent_id: null, ms, event, drafts },
    });
    return {
      record(value, { index }) {
        const event = Event.parse(value);
        const first = begun ? [] : [start('start', {})];
        begun = true;
        const made = draftsOf(event, index ?? 0, { open, answers });
        if (first.length + made.length === 0)
          return [{ is: 'repeated', reason: 'a call, told with its result' }];
        return [
          told(msOf(event.timestamp), event.action ?? event.observation ?? 'event', [...first, ...made]),
        ];
      },
      end: () => {
        const left = [...open.values()].map((call) => toolCall({ ...call, status: 'interrupted' }));
        return left.length > 0 ? [told(null, 'end', left)] : [];
      },
    };
  },
};

function draftsOf(
  event: Event,
  at: number,
  { open, answers }: { open: Map<string, Call>; answers: Answers },
): RawDraft[] {
  const { action, observation, source, args, content, cause } = event;
  const own = `event ${at}`;
  const thought = typeof args?.thought === 'string' ? args.thought : '';
  if (typeof observation === 'string') {
    const call = cause == null ? undefined : open.get(String(cause));
    if (!call)
      return [
        note(own, observation, {
          text: asText(content ?? event.message ?? ''),
          input: asJson(event.extras ?? {}),
        }),
      ];
    open.delete(String(cause));
    answers.resulted();
    return [answered(call, event)];
  }
  if (action === 'message') {
    const text = typeof args?.content === 'string' ? args.content : (event.message ?? '');
    return [message(own, source === 'user' ? 'user' : 'assistant', text)];
  }
  if (action === 'finish') {
    const final =
      typeof args?.final_thought === 'string' && args.final_thought !== ''
        ? args.final_thought
        : thought || (event.message ?? '');
    return [message(own, 'assistant', final), note(`${own} finish`, 'finish', { input: asJson(args ?? {}) })];
  }
  if (typeof action !== 'string' || NOT_CALLS.has(action) || source === 'environment')
    return [
      note(own, action === 'system' ? 'system_prompt' : (action ?? 'event'), {
        text: asText(typeof args?.content === 'string' ? args.content : (event.message ?? '')),
        input: asJson(args ?? {}),
      }),
    ];
  const { thought: _, ...input } = args ?? {};
  const meta = event.tool_call_metadata;
  open.set(String(event.id ?? at), {
    ...{
      id: meta?.tool_call_id ?? `event-${at}`,
      of: own,
      name: meta?.function_name ?? action,
      input,
      status: null,
      fields: { message_id: meta?.model_response?.id ?? answers.called(own) },
    },
  });
  return thought === '' ? [] : [message(own, 'assistant', thought)];
}

function answered(call: Call, { observation, content, extras, success }: Event): RawDraft {
  const metadata = asPayload(extras?.metadata) ?? {};
  const given = typeof metadata.exit_code === 'number' ? metadata.exit_code : extras?.exit_code;
  const code = typeof given === 'number' ? given : null;
  const failed = observation === 'error' || (code !== null && code > 0) || success === false;
  return toolCall({
    ...call,
    output: asText(content ?? ''),
    result: extras ? asJson(extras) : undefined,
    // -1 is a command that still runs
    status:
      observation === 'user_rejected'
        ? 'denied'
        : failed
          ? 'error'
          : code === 0 || success === true
            ? 'ok'
            : null,
    exit_code: code,
  });
}
