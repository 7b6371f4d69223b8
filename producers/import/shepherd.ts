/** Shepherd's exports: the flat timeline, the streams of a trajectory folder, and durable trace revisions. */
import { basename } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../schemas/hash.ts';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { asPayload, own, type Payload, text } from '../adapters/payload.ts';
import { type Answers, createAnswers } from './answers.ts';
import { type Call, message, msOf, note, shown, start, toolCall } from './drafts.ts';
import type { FileFacts, Importer, Item, Reader, Session } from './importer.ts';

const Effect = z.looseObject({ effect_type: z.string(), timestamp: z.number().nullish() });
const Line = z.looseObject({
  effect: z.record(z.string(), z.unknown()),
  sequence: z.number(),
  scope_id: z.string().nullish(),
});
const DurableEvent = z.looseObject({ id: z.string(), kind: z.string(), timestamp: z.number().nullish() });

/** The flat timeline, or a stream as the array of its effects. */
export const shepherdJson: Importer = {
  format: 'shepherd',
  recognises: ({ root, names, fields, elements: [first] }) =>
    (root === 'object' && names.has('timeline') && Array.isArray(fields.effect_types)) ||
    (root === 'array' && first !== undefined && typeof own(first, 'effect_type') === 'string'),
  shape: { split: ['timeline'] },
  open: ({ document, path }) =>
    effects(sessionOf(document.id, path), (value, index) => ({
      effect: value,
      own: `effect ${index}`,
    })),
};

/** One scope's stream; discarded branches are kept, each a session. */
export const shepherdLines: Importer = {
  format: 'shepherd',
  recognises: ({ lines }) =>
    lines.some((line) => Line.safeParse(line).success && Effect.safeParse(line.effect).success),
  shape: 'lines',
  open: ({ path, peek }) => {
    return effects(sessionOf(streamIdOf(peek.lines[0] ?? {}, path), path), (value, index) => {
      const { effect, sequence } = Line.parse(value);
      return { effect, own: `effect ${sequence ?? index}` };
    });
  },
};

/**
 * The scope and when it began. A stream that is named after another scope than its first effect's begins with that
 * one's history: it is known by its name.
 */
function streamIdOf(first: Payload, path: string): string {
  const scope = text(first, 'scope_id');
  const named = /^scope_(.+)\.jsonl/.exec(basename(path))?.[1];
  const isOther = named !== undefined && scope !== undefined && named !== scope.replace(/[/\\]|\.\./g, '_');
  const effect = asPayload(first.effect) ?? {};
  const at = own(effect, 'timestamp') ?? sha256(JSON.stringify(effect)).slice(0, 32);
  return `${isOther ? `scope_${named}` : (scope ?? basename(path))}-${at}`;
}

/** A durable trace: what happened to the task, without what was said. */
export const shepherdTrace: Importer = {
  format: 'shepherd',
  recognises: ({ root, fields }) =>
    root === 'object' &&
    (fields.kind === 'shepherd.task_trace' || String(fields.trace_runtime).startsWith('shepherd.')),
  shape: { split: ['events'] },
  open: (file: FileFacts): Reader => {
    const id = typeof file.root.trace_owner_id === 'string' ? file.root.trace_owner_id : file.document.id;
    const session: Session = { id, original_id: id, harness: 'shepherd' };
    let begun = false;
    const first = (): RawDraft[] => {
      const drafts = begun ? [] : [start('start', {}, file.root)];
      begun = true;
      return drafts;
    };
    return {
      record(value) {
        const { id: own_id, kind, timestamp, ...rest } = DurableEvent.parse(value);
        const drafts = [
          ...first(),
          note(own_id, kind, { input: asJson(rest) }, { reason: text(rest, 'terminal_status') ?? null }),
        ];
        return [{ is: 'told', session, agent_id: null, ms: msOf(timestamp), event: kind, drafts }];
      },
      end: (): Item[] => {
        const drafts = first();
        return drafts.length > 0
          ? [{ is: 'told', session, agent_id: null, ms: null, event: 'trace', drafts }]
          : [];
      },
    };
  },
};

function sessionOf(id: string, path: string): Session {
  return { id, original_id: basename(path).replace(/\.jsonl?(?:\.\w{1,8})?$/, ''), harness: 'shepherd' };
}

function effects(
  session: Session,
  read: (value: unknown, index: number) => { effect: unknown; own: string },
): Reader {
  const open = new Map<string, Call>();
  const answers = createAnswers();
  let begun = false;
  const told = (ms: number | null, event: string, drafts: RawDraft[]): Item => ({
    ...{ is: 'told', session, agent_id: null, ms, event, drafts },
  });
  return {
    record(value, { index }) {
      const { effect, own: own_id } = read(value, index ?? 0);
      const { effect_type: type, timestamp, ...rest } = Effect.parse(effect);
      const first = begun ? [] : [start('start', {})];
      begun = true;
      const drafts = [...first, ...effectDrafts(type, rest, own_id, { open, answers })];
      if (drafts.length === 0) return [{ is: 'repeated', reason: 'a call, told with its result' }];
      return [told(msOf(timestamp), type, drafts)];
    },
    end: () => {
      const left = [...open.values()].map((call) => toolCall({ ...call, status: 'interrupted' }));
      return left.length > 0 ? [told(null, 'end', left)] : [];
    },
  };
}

function effectDrafts(
  type: string,
  effect: Payload,
  own_id: string,
  { open, answers }: { open: Map<string, Call>; answers: Answers },
): RawDraft[] {
  const id = text(effect, 'tool_call_id') ?? own_id;
  const name = text(effect, 'tool_name') ?? null;
  if (type === 'prompt_sent') {
    const system = text(effect, 'system_prompt');
    const model = text(effect, 'model_id') ?? null;
    return [
      ...(system ? [note(`${own_id} system`, 'system_prompt', { text: asText(system) })] : []),
      message(own_id, 'user', text(effect, 'user_prompt') ?? '', { model }),
    ];
  }
  if (type === 'agent_message' && own(effect, 'is_partial') !== true)
    return [message(own_id, 'assistant', text(effect, 'content') ?? '')];
  if (type === 'agent_thinking')
    return [
      note(own_id, 'thinking', { text: asText(text(effect, 'content') ?? text(effect, 'thinking') ?? '') }),
    ];
  if (type === 'tool_call_started') {
    const fields = { message_id: answers.called(own_id) };
    open.set(id, { id, name, input: own(effect, 'params'), status: null, fields });
    return [];
  }
  if (type === 'tool_call_completed' || type === 'tool_call_rejected') {
    const call = open.get(id) ?? { id, name, input: own(effect, 'params') };
    open.delete(id);
    answers.resulted();
    const took = own(effect, 'duration_ms');
    return [
      toolCall({
        ...call,
        output: shown(own(effect, type === 'tool_call_completed' ? 'output' : 'reason')),
        status: type === 'tool_call_rejected' ? 'denied' : own(effect, 'success') === false ? 'error' : 'ok',
        duration_ms: typeof took === 'number' ? Math.round(took) : null,
      }),
    ];
  }
  return [note(own_id, type, { input: asJson(effect) })];
}
