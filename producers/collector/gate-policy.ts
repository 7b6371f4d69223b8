import { z } from 'zod';
import type { AnswerCode } from '../../schemas/grade.ts';

/** The harness ends a turn after 8 blocks in a row by itself: we let go before it does. */
export const MAX_BLOCKS = 7;
const MAX_ERRORS = 3;
const MAX_PENDING_BLOCKS = 5;
const MAX_PENDING_MS = 30 * 60_000;

/** A grade asked for and not answered yet; asked again with the same id while the diff is the same. */
export const Asked = z.strictObject({
  request_id: z.string(),
  head: z.string(),
  diff_hash: z.string(),
  /** Milliseconds since the epoch. */
  since: z.number(),
  /** Blocks given while it was pending. */
  blocks: z.number().int(),
});
export type Asked = z.infer<typeof Asked>;

/** What the gate knows of a session between two Stops. Kept in collector.db. */
export const GateState = z.strictObject({
  fails: z.number().int(),
  flipped: z.boolean(),
  /** ERRORs in a row. */
  errors: z.number().int(),
  /** Blocks in a row since the last tool call. */
  blocks: z.number().int(),
  asked: Asked.nullable(),
  /** Why the agent was last let go without a PASS. */
  let_go: z.enum(['oracle_error', 'pending', 'gate_error', 'no_task', 'ungraded']).nullable(),
  diff_hash: z.string().nullable(),
  /** What the last stop was told, and the session's length then: who asks before anything new is told asks for that stop. */
  told: z.strictObject({ seq: z.number().int(), block: z.boolean() }).nullable().default(null),
});
export type GateState = z.infer<typeof GateState>;

export const NEW_GATE: GateState = {
  fails: 0,
  flipped: false,
  errors: 0,
  blocks: 0,
  asked: null,
  let_go: null,
  diff_hash: null,
  told: null,
};

/** What the first SessionStart of an id said: never changed afterwards (design, "Ends"). */
export const SessionFacts = z.strictObject({
  task_id: z.string().nullable(),
  base_commit: z.string().nullable(),
  root_commit: z.string().nullable(),
  worktree: z.string().nullable(),
  max_attempts: z.number().int(),
  base_matches: z.boolean().nullable(),
});
export type SessionFacts = z.infer<typeof SessionFacts>;

/** Why a Stop was let through without being graded; all but the first three are recorded. */
export type AllowReason =
  | 'subagent'
  | 'no_task'
  | 'flipped'
  | 'not_on_base'
  | 'plan_mode'
  | 'background_tasks'
  | 'budget'
  | 'block_limit';

export type Opened =
  | { action: 'grade'; gate: GateState }
  | { action: 'allow'; reason: AllowReason; gate: GateState };

/** Whether a Stop is graded, decided before any diff is built. */
export function decideOpen(
  facts: SessionFacts | null,
  gate: GateState,
  ask: { agent_id?: string | null | undefined; ungraded: 'plan_mode' | 'background_tasks' | null },
): Opened {
  const allow = (reason: AllowReason, change: Partial<GateState> = {}): Opened => ({
    action: 'allow',
    reason,
    gate: { ...gate, ...change },
  });
  if (typeof ask.agent_id === 'string') return allow('subagent');
  if (!facts || facts.task_id === null) return allow('no_task');
  if (!gradable(facts)) return allow('not_on_base', { let_go: 'ungraded' });
  if (gate.flipped) return allow('flipped');
  if (ask.ungraded !== null) return allow(ask.ungraded, { let_go: gate.let_go ?? 'ungraded' });
  if (gate.fails >= facts.max_attempts) return allow('budget');
  if (gate.blocks >= MAX_BLOCKS) return allow('block_limit');
  return { action: 'grade', gate };
}

function gradable(facts: SessionFacts): boolean {
  return facts.base_matches !== false && facts.base_commit !== null && facts.root_commit !== null;
}

/** How long the oracle may take for this diff: a pending one has 30 minutes in all. Milliseconds. */
export function patience(gate: GateState, diffHash: string, deadlineMs: number, now: number): number {
  const asked = gate.asked;
  if (!asked || asked.diff_hash !== diffHash) return deadlineMs;
  if (asked.blocks >= MAX_PENDING_BLOCKS) return Math.min(deadlineMs, 1_000);
  return Math.max(Math.min(deadlineMs, asked.since + MAX_PENDING_MS - now), Math.min(deadlineMs, 1_000));
}

/** What the oracle was heard to say; `reached` false: nothing of its was heard, so the request stays open. */
export interface Heard {
  answer: AnswerCode;
  reached: boolean;
}

export interface Settled {
  gate: GateState;
  block: boolean;
}

/**
 * What an answer means (oracle-design, "What the agent's side asks and gets"): FAIL uses an attempt, ERROR and
 * PENDING use none; three ERRORs in a row, or PENDING for five blocks or half an hour, let the agent go.
 * @param asked the request that was answered @param now milliseconds since the epoch
 */
export function afterAnswer(
  gate: GateState,
  asked: Asked,
  heard: Heard,
  maxAttempts: number,
  now: number,
): Settled {
  const { answer, reached } = heard;
  const base: GateState = { ...gate, asked: null, let_go: null, diff_hash: asked.diff_hash };
  switch (answer) {
    case 'PASS':
      return { gate: { ...base, flipped: true, errors: 0 }, block: false };
    case 'FAIL': {
      const fails = gate.fails + 1;
      return blocking({ ...base, fails, errors: 0 }, fails < maxAttempts, null);
    }
    case 'ERROR': {
      const errors = gate.errors + 1;
      const open = reached ? null : asked;
      return blocking({ ...base, asked: open, errors }, errors < MAX_ERRORS, 'oracle_error');
    }
    case 'PENDING': {
      const spent = asked.blocks >= MAX_PENDING_BLOCKS || now - asked.since >= MAX_PENDING_MS;
      const next = { ...base, errors: 0, asked: { ...asked, blocks: asked.blocks + (spent ? 0 : 1) } };
      return blocking(next, !spent, 'pending');
    }
    case 'NO_TASK':
      return { gate: { ...base, let_go: gate.let_go ?? 'no_task' }, block: false };
  }
}

function blocking(gate: GateState, want: boolean, else_: GateState['let_go']): Settled {
  if (!want) return { gate: { ...gate, let_go: else_ }, block: false };
  if (gate.blocks >= MAX_BLOCKS) return { gate, block: false };
  return { gate: { ...gate, blocks: gate.blocks + 1 }, block: true };
}

/** A tool call is progress: blocks in a row are counted from it. */
export function afterToolCall(gate: GateState): GateState {
  return gate.blocks === 0 ? gate : { ...gate, blocks: 0 };
}

/** What the gate tells of itself (gate/gate.ts) when the collector could not answer it. */
export function afterGateNotice(gate: GateState, kind: string): GateState {
  if (kind === 'gate_failed' || kind === 'gate_late') return { ...gate, blocks: gate.blocks + 1 };
  if (kind === 'gate_error') return { ...gate, let_go: 'gate_error' };
  if (kind === 'gate_gave_up') return { ...gate, let_go: 'pending' };
  return gate;
}

/**
 * `session_end.outcome` as the agent's host knows it: a claim beside the signed verdicts.
 * @param quiet the harness never said that the session ended
 */
export function outcomeOf(facts: SessionFacts | null, gate: GateState, quiet: boolean): string {
  if (gate.flipped) return 'flipped';
  if (gate.let_go !== null && gate.let_go !== 'ungraded') {
    return gate.let_go === 'no_task' && gate.fails > 0 ? 'no_flip' : gate.let_go;
  }
  if (gate.asked !== null) return 'pending';
  if (gate.fails > 0) return 'no_flip';
  if (gate.errors > 0) return 'oracle_error';
  if (quiet) return 'aborted';
  if (!facts || facts.task_id === null || gate.let_go === 'ungraded') return 'ungraded';
  return 'aborted';
}
