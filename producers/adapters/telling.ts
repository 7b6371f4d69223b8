/** The drafts that most harnesses tell alike; an adapter says only where its fields are. */
import { BLOCK_REASON } from '../../schemas/block-reason.ts';
import type { Draft } from '../draft.ts';
import { asJson, asText, notice, type Raw, type RawDraft, type Tell } from './adapter.ts';
import { asPayload, type Payload, text, without } from './payload.ts';

type Fields = Draft['fields'];

/** What a payload tells beside what was told of it, as content `input`; nothing when there is nothing. */
export function remains(payload: Payload, told: readonly string[]): RawDraft['content'] {
  const left = without(payload, new Set(told));
  return Object.keys(left).length === 0 ? {} : { input: asJson(left) };
}

export function sessionStart(fields: Fields, facts: Fields, content: RawDraft['content'] = {}): RawDraft {
  return {
    role: 'event',
    type: 'session_start',
    kind: 'session_start',
    fields: { ...fields, ...facts },
    content,
  };
}

/** Of a harness that tells directory and source by these names; `base`: what each of its payloads has. */
export function startTold(base: readonly string[]): Tell {
  return (payload, { facts }) => [
    sessionStart(
      { cwd: text(payload, 'cwd') ?? null, source: text(payload, 'source') ?? null },
      facts,
      remains(payload, [...base, 'source']),
    ),
  ];
}

export function sessionEnd(reason: string | undefined, content: RawDraft['content'] = {}): RawDraft {
  return {
    role: 'event',
    type: 'session_end',
    kind: 'session_end',
    fields: { reason: reason ?? null },
    content,
  };
}

/** What the person asked. The sentence that holds the agent comes back as a prompt in some harnesses, and is none. */
export function prompt(said: string, fields: Fields = {}, id?: string): RawDraft {
  const own = id === undefined ? {} : { own_id: id };
  if (said === BLOCK_REASON) return { ...notice('held', { text: asText(said) }, fields), ...own };
  return {
    role: 'event',
    type: 'message',
    kind: 'prompt',
    fields: { role: 'user', ...fields },
    content: { text: asText(said) },
    ...own,
  };
}

/** A whole message of the model. */
export function message(said: string, fields: Fields = {}, id?: string): RawDraft {
  return {
    role: 'event',
    type: 'message',
    kind: 'message',
    fields: { role: 'assistant', ...fields },
    content: { text: asText(said) },
    ...(id === undefined ? {} : { own_id: id, phase: 'whole' }),
  };
}

/** What is said to have been the turn's last message: an event only where nothing else told it. */
export function lastMessage(said: string, fields: Fields = {}): RawDraft {
  return {
    role: 'last_message',
    type: 'message',
    kind: 'last_message',
    fields: { role: 'assistant', ...fields },
    content: { text: asText(said) },
  };
}

export interface Call {
  /** The harness's id; where it gives none, the collector pairs start and end by tool and arguments. */
  id: string | undefined;
  name: string | undefined;
  input?: unknown;
  fields?: Fields;
}

export function callStarted({ id, name, input, fields = {} }: Call): RawDraft {
  return {
    role: 'call_started',
    type: 'notice',
    kind: 'tool_call',
    fields: { kind: 'call_started', tool_name: name ?? null, ...fields },
    content: input === undefined ? {} : { input: asJson(input) },
    ...(id === undefined ? {} : { own_id: id, phase: 'started' }),
  };
}

export interface CallEnd extends Call {
  /** null: the harness does not say. */
  status: 'ok' | 'error' | 'denied' | 'interrupted' | null;
  /** The result as the model is shown it. */
  output?: unknown;
  /** The harness's own structured result. */
  result?: unknown;
}

/** A call's end, of which nothing more will be told. */
export function callEnded({ id, name, input, fields = {}, status, output, result }: CallEnd): RawDraft {
  return {
    role: 'call_ended',
    type: 'tool_call',
    kind: 'tool_call',
    fields: { tool_name: name ?? null, status, ...fields },
    content: {
      ...(input === undefined ? {} : { input: asJson(input) }),
      ...(output === undefined ? {} : { output: raw(output) }),
      ...(result === undefined ? {} : { result: raw(result) }),
    },
    final: true,
    ...(id === undefined ? {} : { own_id: id, phase: 'ended' }),
  };
}

function raw(value: unknown): Raw {
  return typeof value === 'string' ? asText(value) : asJson(value);
}

/** What the model is shown: the text of its parts where all are text, else as it is. */
export function shownOf(value: unknown): unknown {
  const parts = Array.isArray(value) ? value : [value];
  const texts = parts.map((part) => (typeof part === 'string' ? part : text(asPayload(part) ?? {}, 'text')));
  return texts.includes(undefined) ? value : texts.join('');
}
