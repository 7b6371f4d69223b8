/**
 * What gate and collector say to each other over the collector's unix socket, as plain types: the gate is part
 * of the hook's one file and carries no validator. Two releases may meet here, so fields are only ever added.
 */

/** Why a Stop is let through without a grade. */
export type Ungraded = 'plan_mode' | 'background_tasks';

/** `POST /gate/open`: the agent wants to stop. A second gate of the session waits here for the first's answer. */
export interface GateOpenRequest {
  session_id: string;
  cwd: string;
  stop_hook_active: boolean;
  permission_mode: string | null;
  /** Background tasks still running. */
  background_tasks: number;
  /** Set: the gate will allow whatever is answered; record it. */
  ungraded: Ungraded | null;
  /** Milliseconds that the gate waits for everything. */
  deadline_ms: number;
}

export interface GateOpenAnswer {
  action: 'allow' | 'block' | 'grade';
  /** With `grade`: what to compare with, from the session's first start. */
  base_commit: string | null;
  /** With `grade`: root of the working tree at the session's first start; null: the one that holds `cwd`. */
  worktree: string | null;
}

/** `POST /gate/grade`: on the same connection, so that the lock ends with the gate's process. */
export interface GateGradeRequest {
  session_id: string;
  /** base64 */
  diff: string;
  /** SHA-256 of the diff's bytes. */
  diff_hash: string;
  diff_missing?: string;
  /** Milliseconds left: an answer that cannot be had by then is PENDING. */
  deadline_ms: number;
}

/** Nothing else: who asks may be the agent itself, and what the oracle said is more than it may know. */
export interface GateGradeAnswer {
  block: boolean;
}

/** @returns null for anything that is not the answer */
export function asOpenAnswer(value: Record<string, unknown>): GateOpenAnswer | null {
  const { action, base_commit: base, worktree } = value;
  if (action !== 'allow' && action !== 'block' && action !== 'grade') return null;
  const text = (field: unknown) => (typeof field === 'string' ? field : null);
  return { action, base_commit: text(base), worktree: text(worktree) };
}

/** @returns whether to block; null for anything that is not the answer */
export function asBlock(value: Record<string, unknown>): boolean | null {
  return typeof value.block === 'boolean' ? value.block : null;
}
