import type { Draft } from '../draft.ts';
import type { Payload } from './payload.ts';

/** Content as the payload has it, not redacted yet: text as it is, any other value to be written as JSON. */
export interface Raw {
  value: unknown;
  /** `text`: a string stays as it is. `json`: a string becomes JSON too. */
  as: 'text' | 'json';
}

/** A draft (draft.ts) whose content is still raw. */
export interface RawDraft extends Omit<Draft, 'content'> {
  content: { [field in keyof Draft['content']]: Raw };
}

/** What an adapter may ask for beside the payload. */
export interface AdapterContext {
  /** Text of a rule file, or null. */
  readRules: (path: string) => string | null;
  /** Facts of the session's start (session-start.ts), for a session_start only. */
  facts: Draft['fields'];
}

export interface Adapter {
  harness: string;
  sessionId: (payload: Payload) => string | undefined;
  agentId: (payload: Payload) => string | undefined;
  event: (payload: Payload) => string | undefined;
  drafts: (payload: Payload, context: AdapterContext) => RawDraft[];
}

export const asText = (value: string): Raw => ({ value, as: 'text' });
export const asJson = (value: unknown): Raw => ({ value, as: 'json' });

/** A notice whose identity is its payload. */
export function notice(kind: string, content: RawDraft['content'], fields: Draft['fields'] = {}): RawDraft {
  return { role: 'event', type: 'notice', kind, fields: { kind, ...fields }, content };
}
