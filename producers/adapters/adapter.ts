import { BLOCK_REASON } from '../../schemas/block-reason.ts';
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

/** How an agent that wants to stop is made to go on. */
interface Hold {
  /** The stop is refused, or what the hook says becomes the agent's next prompt. */
  by: 'refusal' | 'prompt';
  /** What the hook prints, in the words that the harness itself understands. */
  print: (payload: Payload) => string;
}

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
  /** Of every harness that has a stop; nothing can hold an agent of the others. */
  hold?: Hold;
  /** Whether the harness shows `systemMessage` of a session start to the person. */
  showsMessage?: boolean;
}

/** Claude Code's answer at a stop, which others have taken over. */
export const printBlock = () => JSON.stringify({ decision: 'block', reason: BLOCK_REASON });

/** Phase of a draft without an id whose payload carries its own time. */
export const STAMPED = 'stamped';

export const asText = (value: string): Raw => ({ value, as: 'text' });
export const asJson = (value: unknown): Raw => ({ value, as: 'json' });

/** A notice whose identity is its payload. */
export function notice(kind: string, content: RawDraft['content'], fields: Draft['fields'] = {}): RawDraft {
  return { role: 'event', type: 'notice', kind, fields: { kind, ...fields }, content };
}
