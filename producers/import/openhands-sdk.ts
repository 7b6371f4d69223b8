/** OpenHands' SDK: events as JSON Lines, or one file each in a conversation's `events` folder. */
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { asPayload, type Payload } from '../adapters/payload.ts';
import { type Answers, createAnswers } from './answers.ts';
import { argumentsOf, type Call, message, msOf, note, shown, start, textOf, toolCall } from './drafts.ts';
import type { Importer, Item, Session } from './importer.ts';

const Event = z.looseObject({
  id: z.string(),
  kind: z.string(),
  timestamp: z.string().optional(),
  source: z.string().optional(),
  thought: z.unknown().optional(),
  action: z.unknown().optional(),
  tool_name: z.string().optional(),
  tool_call_id: z.string().optional(),
  llm_response_id: z.string().optional(),
  tool_call: z.looseObject({ arguments: z.unknown().optional() }).nullish(),
  observation: z
    .looseObject({
      content: z.unknown().optional(),
      is_error: z.boolean().optional(),
      exit_code: z.number().nullish(),
    })
    .nullish(),
  error: z.string().optional(),
  rejection_reason: z.string().optional(),
  llm_message: z.looseObject({ role: z.string().optional(), content: z.unknown().optional() }).optional(),
  system_prompt: z.looseObject({ text: z.string().optional() }).optional(),
});
type Event = z.infer<typeof Event>;

const KINDS =
  /^(?:Action|Observation|Message|SystemPrompt|AgentError|ConversationStateUpdate|Condensation\w*|Pause|Token|UserReject\w*)Event$|^UserRejectObservation$/;

/** Events that end a call. */
const ENDS: ReadonlySet<string> = new Set(['ObservationEvent', 'AgentErrorEvent', 'UserRejectObservation']);

export const openhandsSdk: Importer = {
  format: 'openhands-sdk',
  recognises: ({ lines, fields }) =>
    [...lines, fields].some(
      ({ kind, id }) => typeof id === 'string' && typeof kind === 'string' && KINDS.test(kind),
    ),
  shape: 'lines',
  open: ({ path }) => {
    const folder = conversationOf(path);
    let session: Session | null = null;
    const open = new Map<string, Call>();
    const answers = createAnswers();
    const told = (of: Session, ms: number | null, event: string, drafts: RawDraft[]): Item => ({
      ...{ is: 'told', session: of, agent_id: null, ms, event, drafts },
    });
    return {
      record(value) {
        const event = Event.parse(value);
        const id: string = session?.id ?? folder ?? event.id;
        const first = session === null ? [start('start', {})] : [];
        session ??= { id, original_id: id, harness: 'openhands' };
        const made = [...first, ...draftsOf(event, { open, answers })];
        return made.length > 0
          ? [told(session, msOf(event.timestamp), event.kind, made)]
          : [{ is: 'repeated', reason: 'a call, told with its result' }];
      },
      end: () => {
        const left = [...open.values()].map((call) => toolCall({ ...call, status: 'interrupted' }));
        return session && left.length > 0 ? [told(session, null, 'end', left)] : [];
      },
    };
  },
};

/** The conversation whose folder `events` it is, or lies in. */
function conversationOf(path: string): string | null {
  const folder = [path, dirname(path)].find((one) => basename(one) === 'events');
  return folder === undefined ? null : basename(dirname(folder));
}

function draftsOf(
  event: Event,
  { open, answers }: { open: Map<string, Call>; answers: Answers },
): RawDraft[] {
  const { id, kind, tool_call_id: call = id, tool_name: name = null } = event;
  if (kind === 'MessageEvent') {
    const { role, content } = event.llm_message ?? {};
    return [
      message(id, role === 'user' ? 'user' : 'assistant', textOf(content) ?? JSON.stringify(content) ?? ''),
    ];
  }
  if (kind === 'SystemPromptEvent')
    return [
      note(id, 'system_prompt', {
        text: asText(event.system_prompt?.text ?? ''),
        input: asJson(rest(event)),
      }),
    ];
  if (kind === 'ActionEvent') {
    const input = event.action ?? argumentsOf(event.tool_call?.arguments);
    const message_id = event.llm_response_id ?? answers.called(id);
    open.set(call, { id: call, name, input, status: null, fields: { message_id } });
    const thought = textOf(event.thought) ?? '';
    return thought === '' ? [] : [message(id, 'assistant', thought, { message_id })];
  }
  if (!ENDS.has(kind)) return [note(id, kind, { input: asJson(rest(event)) })];
  const known = open.get(call) ?? { id: call, name, input: undefined };
  open.delete(call);
  answers.resulted();
  if (kind === 'ObservationEvent') {
    const { content, is_error: isError = false, exit_code: code = null } = event.observation ?? {};
    const failed = isError || (code !== null && code > 0);
    return [
      toolCall({
        ...known,
        output: shown(content) ?? asText(''),
        result: asJson(event.observation ?? {}),
        status: failed ? 'error' : 'ok',
        exit_code: code,
      }),
    ];
  }
  if (kind === 'AgentErrorEvent')
    return [toolCall({ ...known, output: asText(event.error ?? ''), status: 'error' })];
  return [toolCall({ ...known, output: asText(event.rejection_reason ?? ''), status: 'denied' })];
}

function rest({ id: _i, kind: _k, timestamp: _t, ...more }: Event): Payload {
  return asPayload(more) ?? {};
}
