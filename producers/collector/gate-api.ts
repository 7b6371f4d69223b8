/**
 * The collector's side of gate/protocol.ts: what comes in over the unix socket is checked here. A gate of a
 * newer release may send more, so unknown fields are left alone.
 */
import { z } from 'zod';
import type { GateGradeRequest, GateOpenRequest } from '../gate/protocol.ts';

const Id = z.string().min(1).max(256);

export const OpenRequest = z.object({
  session_id: Id,
  /** A subagent has no gate; one that asks all the same is let through. */
  agent_id: z.string().nullable().optional(),
  cwd: z.string().default(''),
  stop_hook_active: z.boolean().default(false),
  permission_mode: z.string().nullable().default(null),
  background_tasks: z.number().int().nonnegative().default(0),
  ungraded: z.enum(['plan_mode', 'background_tasks']).nullable().default(null),
  deadline_ms: z.number().int().positive().default(540_000),
}) satisfies z.ZodType<GateOpenRequest & { agent_id?: string | null | undefined }>;
export type OpenRequest = z.infer<typeof OpenRequest>;

export const GradeAsk = z.object({
  session_id: Id,
  /** base64; not checked by a pattern, which is slow on 40 MB: its hash is. */
  diff: z.string(),
  diff_hash: z.string().length(64),
  diff_missing: z.string().max(64).optional(),
  deadline_ms: z.number().int().positive(),
}) satisfies z.ZodType<Omit<GateGradeRequest, 'diff_missing'>>;
export type GradeAsk = z.infer<typeof GradeAsk>;

/** `POST /drain`: answered once everything captured by now is published, or the deadline has passed. */
export const DrainRequest = z.object({ deadline_ms: z.number().int().positive().default(30_000) });
