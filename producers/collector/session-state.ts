import { z } from 'zod';
import { Content } from '../draft.ts';
import { GateState, NEW_GATE, SessionFacts } from './gate-policy.ts';

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const Contents = z.partialRecord(z.enum(['text', 'input', 'output', 'result', 'diff']), Content);

/** One of the things told of a call or a message, until they are joined. */
export const Part = z.strictObject({
  ts: z.string(),
  harness: z.string(),
  harness_event: z.string(),
  transport: z.enum(['command', 'http']),
  fields: z.record(z.string(), Scalar),
  content: Contents,
});
export type Part = z.infer<typeof Part>;

/** A tool call that has not become its event. */
export const OpenCall = z.strictObject({
  id: z.string(),
  agent_id: z.string().nullable(),
  started: Part.optional(),
  ended: Part.optional(),
  seen: Part.optional(),
});
export type OpenCall = z.infer<typeof OpenCall>;

/** An assistant message of which pieces are missing. */
export const OpenMessage = z.strictObject({
  id: z.string(),
  agent_id: z.string().nullable(),
  turn: z.number().int(),
  /** By index. */
  pieces: z.record(z.string(), Part),
  /** Index of the last piece, once it is known. */
  final: z.number().int().nullable(),
});
export type OpenMessage = z.infer<typeof OpenMessage>;

/** The last assistant message of an agent, to tell it once. */
const Told = z.strictObject({
  turn: z.number().int(),
  /** SHA-256 of the text as stored, without the white space around it. */
  text: z.string(),
  bytes: z.number().int(),
  /** Nothing was redacted or cut, so the text tells by itself. */
  exact: z.boolean(),
});
export type Told = z.infer<typeof Told>;

/** What the collector remembers of a session beside its chain. */
export const Core = z.strictObject({
  turn: z.number().int(),
  facts: SessionFacts.nullable(),
  gate: GateState,
  harness: z.string(),
  /** The last event is a session_end. */
  ended: z.boolean(),
  /** Events have come over HTTP: an outage of it is a gap here. */
  http: z.boolean(),
  /** Subagents, with the tool call that started each where it is certain. */
  agents: z.record(z.string(), z.string().nullable()),
  /** By agent ('' for the main one): the last message told by pieces, and one that only the turn's end told. */
  by_pieces: z.record(z.string(), Told),
  by_end: z.record(z.string(), Told),
});
export type Core = z.infer<typeof Core>;

/** State of one session's assembly. Never changed in place. */
export interface SessionState {
  core: Core;
  calls: ReadonlyMap<string, OpenCall>;
  messages: ReadonlyMap<string, OpenMessage>;
}

export function newSession(harness: string): SessionState {
  const core: Core = {
    turn: 0,
    facts: null,
    gate: NEW_GATE,
    harness,
    ended: false,
    http: false,
    agents: {},
    by_pieces: {},
    by_end: {},
  };
  return { core, calls: new Map(), messages: new Map() };
}

/** Key of an open call or message: an id is the harness's own within one agent. */
export function keyOf(agentId: string | null, id: string): string {
  return JSON.stringify([agentId, id]);
}
