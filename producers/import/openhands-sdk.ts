/** OpenHands' SDK: events as JSON Lines, or one file each in a conversation's `events` folder. */
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { asPayload, type Payload } from '../adapters/payload.ts';
import { argumentsOf, message, msOf, note, shown, start, textOf, toolCall } from './drafts.ts';
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

export const openhandsSdk: Importer = {
  format: 'openhands-sdk',
  recognises: ({ lines, fields }) =>
    [...lines, fields].some(
      ({ kind, id }) => typeof id === 'string' && typeof kind === 'string' && KINDS.test(kind),
    ),
  shape: 'lines',
  open: ({ path }) => {
    const folder = basename(dirname(path)) === 'events' ? basename(dirname(dirname(path))) : null;
    let session: Session | null = null;
    const inputs = new Map<string, { name: string | null; input: unknown }>();
    const told = (of: Session, event: Event, drafts: RawDraft[]): Item => ({
      ...{ is: 'told', session: of, agent_id: null, ms: msOf(event.timestamp), event: event.kind, drafts },
    });
    return {
      record(value) {
        const event = Event.parse(value);
        const id: string = session?.id ?? folder ?? event.id;
        const first = session === null ? [start('start', {})] : [];
        session ??= { id, original_id: id, harness: 'openhands' };
        const made = [...first, ...draftsOf(event, inputs, folder !== null)];
        return made.length > 0
          ? [told(session, event, made)]
          : [{ is: 'repeated', reason: 'a call, told with its result' }];
      },
      end: () => [],
    };
  },
};

function draftsOf(
  event: Event,
  inputs: Map<string, { name: string | null; input: unknown }>,
  alone: boolean,
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
    const thought = textOf(event.thought) ?? '';
    const said = thought === '' ? [] : [message(id, 'assistant', thought)];
    // alone in its file, a call is not seen by the file with its result
    if (alone)
      return [
        ...said,
        note(`${id} call`, 'call_started', { input: asJson(input) }, { tool_name: name, tool_use_id: call }),
      ];
    inputs.set(call, { name, input });
    return said;
  }
  const known = inputs.get(call);
  inputs.delete(call);
  const common = { id: call, name: known?.name ?? name, input: known?.input };
  if (kind === 'ObservationEvent') {
    const { content, is_error: isError = false, exit_code: code = null } = event.observation ?? {};
    const failed = isError || (code !== null && code > 0);
    return [
      toolCall({
        ...common,
        output: shown(content) ?? asText(''),
        result: asJson(event.observation ?? {}),
        status: failed ? 'error' : 'ok',
        exit_code: code,
      }),
    ];
  }
  if (kind === 'AgentErrorEvent')
    return [toolCall({ ...common, output: asText(event.error ?? ''), status: 'error' })];
  if (kind === 'UserRejectObservation')
    return [toolCall({ ...common, output: asText(event.rejection_reason ?? ''), status: 'denied' })];
  return [note(id, kind, { input: asJson(rest(event)) })];
}

function rest({ id: _i, kind: _k, timestamp: _t, ...more }: Event): Payload {
  return asPayload(more) ?? {};
}
