import { randomUUID } from 'node:crypto';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { GradeRequest } from '../../schemas/grade.ts';
import { sha256 } from '../../schemas/hash.ts';
import type { GateGradeAnswer, GateOpenAnswer } from '../gate/protocol.ts';
import { sealText } from '../redaction/content.ts';
import type { CommitDeps } from './commit.ts';
import type { GradeAsk, OpenRequest } from './gate-api.ts';
import { createGateLocks, type GateLocks } from './gate-locks.ts';
import {
  type AllowReason,
  type Asked,
  afterAnswer,
  decideOpen,
  type GateState,
  NEW_GATE,
  type Opened,
  patience,
  type SessionFacts,
} from './gate-policy.ts';
import type { Grader } from './grader.ts';
import { tellOwn } from './host-events.ts';

export interface GateDeps extends CommitDeps {
  grader: Grader;
  /** Commits everything captured by now. */
  drain: () => Promise<void>;
  /** Something was committed. */
  wake: () => void;
}

/** One gate process, as long as it is connected. */
type Caller = object;

export interface GateService {
  open(caller: Caller, ask: OpenRequest): Promise<GateOpenAnswer>;
  grade(caller: Caller, ask: GradeAsk): Promise<GateGradeAnswer>;
  /** The gate's process is gone: its session may be opened by another. */
  gone(caller: Caller): void;
  counts: GateLocks['counts'];
}

/** The gate's state once the event that is being told of a stop is in the chain. */
function tells(gate: GateState, { seq }: { seq: number }, block: boolean): GateState {
  return { ...gate, told: { seq: seq + 1, block } };
}

/** Reasons that need no record: nothing was to be graded, or the end is known already. */
const UNTOLD: ReadonlySet<AllowReason> = new Set(['subagent', 'no_task', 'flipped']);

export function createGateService(deps: GateDeps): GateService {
  const { store, clock } = deps;
  const locks = createGateLocks();

  function answerOf(opened: Opened, facts: SessionFacts | null): GateOpenAnswer {
    const { base_commit = null, worktree = null } = facts ?? {};
    return { action: opened.action, base_commit, worktree };
  }

  function record(ask: OpenRequest, reason: AllowReason, gate: GateState): void {
    tellOwn(deps, ask.session_id, (session) => {
      const facts = session.state.core.facts;
      return {
        ...{ type: 'notice', kind: 'stop_allowed', own_id: String(session.seq) },
        gate: tells(gate, session, false),
        fields: { reason, task_id: facts?.task_id ?? null },
      };
    });
    deps.wake();
  }

  return {
    async open(caller, ask) {
      if (typeof ask.agent_id === 'string') return { action: 'allow', base_commit: null, worktree: null };
      // a gate that will not block needs no answer of another's
      const others = ask.ungraded === null ? await locks.take(ask.session_id, caller) : null;
      if (others) return { action: others.block ? 'block' : 'allow', base_commit: null, worktree: null };
      try {
        await deps.drain();
        const session = store.session(ask.session_id);
        const core = session?.state.core;
        const facts = core?.facts ?? null;
        const told = core?.gate.told;
        // a second registration's hook of the stop that was just answered
        if (session && told?.seq === session.seq) {
          locks.release(ask.session_id, caller, { block: told.block });
          return { action: told.block ? 'block' : 'allow', base_commit: null, worktree: null };
        }
        const opened: Opened = core
          ? decideOpen(facts, core.gate, ask)
          : { action: 'allow', reason: 'no_task', gate: NEW_GATE };
        if (opened.action === 'allow') {
          if (core && !UNTOLD.has(opened.reason)) record(ask, opened.reason, opened.gate);
          locks.release(ask.session_id, caller, { block: false });
        }
        return answerOf(opened, facts);
      } catch (error) {
        locks.release(ask.session_id, caller, null);
        throw error;
      }
    },
    async grade(caller, ask) {
      if (!locks.holds(ask.session_id, caller)) {
        const message = `session ${ask.session_id}: a grade was asked for by a gate that did not open it first`;
        throw new FlipstreamError('gate_not_open', 'usage', message);
      }
      let answer: GateGradeAnswer | null = null;
      try {
        answer = await gradeOnce(deps, ask);
        return answer;
      } finally {
        locks.release(ask.session_id, caller, answer);
        deps.wake();
      }
    },
    gone: (caller) => locks.gone(caller),
    counts: locks.counts,
  };

  async function gradeOnce({ grader, drain }: GateDeps, ask: GradeAsk): Promise<GateGradeAnswer> {
    const diff = Buffer.from(ask.diff, 'base64');
    if (sha256(diff) !== ask.diff_hash) {
      const message = `session ${ask.session_id}: the diff is not the one that its hash names`;
      throw new FlipstreamError('diff_hash_mismatch', 'usage', message);
    }
    const since = clock();
    await drain();
    const { asked, facts, again } = announce(ask, diff);
    deps.wake();
    const { task_id, base_commit, root_commit, max_attempts } = facts;
    const request: GradeRequest = {
      ...{ request_id: asked.request_id, session_id: ask.session_id, chain_id: deps.identity.home_id },
      ...{ head: asked.head, task_id: task_id ?? '', base_commit: base_commit ?? '' },
      ...{ root_commit: root_commit ?? '', diff: ask.diff, diff_hash: ask.diff_hash },
      ...(ask.diff_missing === undefined ? {} : { diff_missing: ask.diff_missing }),
      deadline_ms: ask.deadline_ms,
    };
    const left = Math.max(1, ask.deadline_ms - Math.max(0, clock() - since));
    const gate = store.session(ask.session_id)?.state.core.gate ?? NEW_GATE;
    const heard = await grader(request, again ? patience(gate, ask.diff_hash, left, clock()) : left);
    await drain();
    let block = false;
    tellOwn(deps, ask.session_id, (session) => {
      const settled = afterAnswer(session.state.core.gate, asked, heard, max_attempts, clock());
      block = settled.block;
      const { request_id, diff_hash } = asked;
      return {
        ...{ type: 'oracle_verdict', kind: 'oracle_verdict', own_id: request_id, phase: String(session.seq) },
        gate: tells(settled.gate, session, block),
        fields: { request_id, diff_hash, verdict: heard.answer, mode: 'grade', task_id, base_commit },
      };
    });
    return { block };
  }

  /** Commits that a grade is asked for before it is: a crash can leave no verdict that nobody asked for. */
  function announce(ask: GradeAsk, diff: Buffer): { asked: Asked; facts: SessionFacts; again: boolean } {
    let result: { asked: Asked; facts: SessionFacts; again: boolean } | null = null;
    tellOwn(deps, ask.session_id, ({ head, state: { core } }) => {
      const { facts, gate } = core;
      if (!facts || head === null) return null;
      if (gate.asked?.diff_hash === ask.diff_hash) {
        result = { asked: gate.asked, facts, again: true };
        return null;
      }
      const request_id = randomUUID();
      const asked: Asked = { request_id, head, diff_hash: ask.diff_hash, since: clock(), blocks: 0 };
      result = { asked, facts, again: false };
      const { task_id, base_commit } = facts;
      return {
        ...{ type: 'notice', kind: 'grade_requested', own_id: request_id, gate: { ...gate, asked } },
        fields: {
          ...{ request_id, task_id, base_commit, diff_hash: ask.diff_hash },
          reason: ask.diff_missing ?? null,
        },
        // its bytes are those of the diff itself, which need not be UTF-8
        diff: {
          ...sealText(diff.toString('utf8'), { hash: null, limit: deps.limit }, deps.redact),
          bytes: diff.length,
        },
      };
    });
    if (result) return result;
    const message = `session ${ask.session_id} is not known here, so nothing of it can be graded`;
    throw new FlipstreamError('session_unknown', 'usage', message);
  }
}
