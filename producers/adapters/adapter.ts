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

/** When the hook does more than record: a session begins, an agent wants to stop, a session ends. */
export type Moment = 'start' | 'stop' | 'end';

/** What an event of a harness becomes. */
export type Tell = (payload: Payload, context: AdapterContext) => RawDraft[];

/** One harness: what its payloads say, and what it understands as an answer. Pure. */
export interface Adapter {
  harness: string;
  sessionId: (payload: Payload) => string | undefined;
  agentId: (payload: Payload) => string | undefined;
  event: (payload: Payload) => string | undefined;
  drafts: (payload: Payload, context: AdapterContext) => RawDraft[];
  moment: (payload: Payload) => Moment | null;
  /** Where the session works, when the payload does not say so in `cwd`. */
  cwd?: (payload: Payload) => string | undefined;
  version?: (payload: Payload) => string | undefined;
  /** What is hashed to tell payloads apart, where two registrations get one event in two forms. */
  identity?: (payload: Payload) => string;
  /** Payloads carry their own time: the same bytes again are the same event, not a second one. */
  stamped?: boolean;
  /** What the hook prints so that the agent goes on, when that is not Claude Code's answer. */
  hold?: (payload: Payload) => string;
  /** Whether the harness shows `systemMessage` of a session start to the person. */
  showsMessage?: boolean;
}

/** Phase of a draft without an id whose payload carries its own time. */
export const STAMPED = 'stamped';

export const asText = (value: string): Raw => ({ value, as: 'text' });
export const asJson = (value: unknown): Raw => ({ value, as: 'json' });

/** A notice whose identity is its payload. */
export function notice(kind: string, content: RawDraft['content'], fields: Draft['fields'] = {}): RawDraft {
  return { role: 'event', type: 'notice', kind, fields: { kind, ...fields }, content };
}
