/**
 * What a hook leaves in the spool: one entry a payload, each with the events it tells of, before the
 * collector gives them their place in the chain. This is a durable format between two of our programs that
 * may be of different releases, so it is versioned and read with zod.
 */
import { z } from 'zod';

/** Content after pattern redaction and cut, with what is known of the whole. */
export const Content = z.strictObject({
  /** Redacted, cut, well-formed. */
  text: z.string(),
  /** Keyed hash of the whole unredacted value; absent for a piece. */
  hash: z.string().optional(),
  /** UTF-8 bytes of the whole unredacted value. */
  bytes: z.number().int().nonnegative(),
  cut: z.boolean(),
  /** How many pattern hits were replaced. */
  hits: z.number().int().nonnegative(),
});
export type Content = z.infer<typeof Content>;

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/**
 * - `event`: complete.
 * - `call_started`, `call_ended`, `call_seen`: the three things told of one tool call, joined by `own_id` (its tool_use_id).
 * - `piece`: part of an assistant message, joined by `own_id` (its message_id) and `index`.
 * - `last_message`: what the harness says was the turn's last message; an event only if no piece told it.
 */
const DraftRole = z.enum(['event', 'call_started', 'call_ended', 'call_seen', 'piece', 'last_message']);

export const Draft = z.strictObject({
  role: DraftRole,
  type: z.enum(['session_start', 'message', 'tool_call', 'oracle_verdict', 'session_end', 'notice']),
  /** Scalar fields of schemas/avro/trace-event.avsc that the payload gave. */
  fields: z.record(z.string(), Scalar),
  content: z.partialRecord(z.enum(['text', 'input', 'output', 'result', 'diff']), Content),
  /** Identity (schemas/identity.ts) without what the collector adds. */
  kind: z.string(),
  own_id: z.string().optional(),
  phase: z.string().optional(),
  /** For a piece. */
  index: z.number().int().nonnegative().optional(),
  final: z.boolean().optional(),
});
export type Draft = z.infer<typeof Draft>;

export const SpoolEntry = z.strictObject({
  v: z.literal(1),
  /** Capture time, ISO 8601 UTC, 24 characters. */
  ts: z.string().length(24),
  session_id: z.string(),
  agent_id: z.string().nullable(),
  harness: z.string(),
  /** The harness's own event name. */
  harness_event: z.string(),
  /** Which registration ran the hook (settings, plugin, http): ordinals are counted within one. */
  registration: z.string(),
  transport: z.enum(['command', 'http']),
  /** Keyed hash of the payload, whatever white space it ended with: for identity where the harness gives no id. */
  payload_hash: z.string(),
  drafts: z.array(Draft),
});
export type SpoolEntry = z.infer<typeof SpoolEntry>;
