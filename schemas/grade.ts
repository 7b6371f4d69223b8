/** What crosses from the gate to the collector, and from the collector to the oracle (oracle-design, "What the agent's side asks and gets"). */
import { z } from 'zod';

export const AnswerCode = z.enum(['PASS', 'FAIL', 'ERROR', 'PENDING', 'NO_TASK']);
export type AnswerCode = z.infer<typeof AnswerCode>;

/** POST /v1/grade at the oracle, bearer token of the agent host. The answer is always a 16-byte body: the code, padded with spaces. */
export const GradeRequest = z.strictObject({
  request_id: z.string().min(1).max(64),
  session_id: z.string().min(1).max(256),
  chain_id: z.string().min(1).max(128),
  head: z.string().length(64),
  task_id: z.string().min(1).max(128),
  base_commit: z.string().min(1).max(64),
  root_commit: z.string().min(1).max(64),
  /** Unified diff with binary patches, as `git diff --binary --full-index` prints it, base64. Empty when it could not be built. */
  diff: z.string(),
  /** SHA-256 of the diff's bytes. */
  diff_hash: z.string().length(64),
  /** Set when the diff could not be built: no .git, too large, timed out. */
  diff_missing: z.string().optional(),
  /** How long the asker waits, milliseconds. */
  deadline_ms: z.number().int().positive(),
});
export type GradeRequest = z.infer<typeof GradeRequest>;

export const ANSWER_BYTES = 16;

export { BLOCK_REASON } from './block-reason.ts';
