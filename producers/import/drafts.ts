/** The events that importers make, in the forms that live capture gives them. */
import { asJson, asText, type Raw, type RawDraft } from '../adapters/adapter.ts';
import type { Payload } from '../adapters/payload.ts';

type Fields = RawDraft['fields'];

/** What a record says beside what has a field of its own, as content; nothing when there is nothing. */
function restOf(rest: Payload | undefined): RawDraft['content'] {
  return rest === undefined || Object.keys(rest).length === 0 ? {} : { input: asJson(rest) };
}

export function start(id: string, fields: Fields, rest?: Payload): RawDraft {
  return {
    ...{ role: 'event', type: 'session_start', kind: 'session_start', own_id: id },
    fields: { source: 'import', ...fields },
    content: restOf(rest),
  };
}

export function message(
  id: string,
  role: 'user' | 'assistant',
  text: string,
  fields: Fields = {},
  rest?: Payload,
): RawDraft {
  return {
    ...{ role: 'event', type: 'message', kind: 'message', own_id: id },
    fields: { role, ...fields },
    content: { text: asText(text), ...restOf(rest) },
  };
}

/** A call and what came of it. */
export interface Call {
  id: string;
  /** Where one id is used for several calls; part of the identity only. */
  of?: string;
  name: string | null;
  input: unknown;
  /** As the model saw it. */
  output?: Raw | undefined;
  /** The harness's own. */
  result?: Raw | undefined;
  /** ok, error, denied, interrupted; null where nobody says. */
  status: string | null;
  exit_code?: number | null;
  duration_ms?: number | null;
  fields?: Fields;
}

export function toolCall(call: Call): RawDraft {
  const { id, of, name, input, output, result, status, exit_code = null, duration_ms = null } = call;
  return {
    ...{ role: 'event', type: 'tool_call', kind: 'call', own_id: of === undefined ? id : `${of} ${id}` },
    // a real end beside one that an earlier import had to conclude
    phase: status === 'interrupted' && output === undefined ? 'interrupted' : 'ended',
    fields: { tool_name: name, tool_use_id: id, status, exit_code, duration_ms, ...call.fields },
    content: {
      ...(input === undefined ? {} : { input: asJson(input) }),
      ...(output === undefined ? {} : { output }),
      ...(result === undefined ? {} : { result }),
    },
  };
}

/** What has no place among the five types. */
export function note(id: string, kind: string, content: RawDraft['content'], fields: Fields = {}): RawDraft {
  return {
    role: 'event',
    type: 'notice',
    kind: `notice ${kind}`,
    own_id: id,
    fields: { kind, ...fields },
    content,
  };
}

/** Text of content that is a string or a list of parts with text; null when it is anything else. */
export function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const parts: string[] = [];
  for (const part of content) {
    if (typeof part !== 'object' || part === null || !('text' in part) || typeof part.text !== 'string')
      return null;
    parts.push(part.text);
  }
  return parts.join('\n');
}

/** What the model saw, whatever its form. */
export function shown(content: unknown): Raw | undefined {
  if (content === undefined || content === null) return undefined;
  const text = textOf(content);
  return text === null ? asJson(content) : asText(text);
}

/** ISO 8601, seconds or milliseconds since the epoch, as milliseconds; null for what is no time. */
export function msOf(value: unknown): number | null {
  if (typeof value === 'string') {
    // without a zone it is UTC: another reading would depend on the machine
    const zoned = /(?:Z|[+-]\d\d:?\d\d)$/i.test(value) || !/\d\d:\d\d/.test(value) ? value : `${value}Z`;
    const ms = Date.parse(zoned);
    return Number.isNaN(ms) ? null : valid(ms);
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  return valid(value < 1e11 ? value * 1000 : value);
}

function valid(ms: number): number | null {
  return ms >= 0 && ms < 253_402_300_800_000 ? ms : null;
}

/** JSON text as its value, anything else as it is: harnesses write arguments both ways. */
export function argumentsOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
