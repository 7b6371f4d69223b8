import { messageOf } from '../../schemas/errors.ts';
import { printBlock } from '../adapters/adapter.ts';
import type { Home } from '../home.ts';
import { type Client, connect, LateAnswer, Unreachable } from './client.ts';
import { buildDiff, type Diff, type DiffRequest } from './diff.ts';
import { DIFF_DEADLINE_MS } from './diff-missing.ts';
import { clearFaults, readFaults, writeFaults } from './faults.ts';
import {
  asBlock,
  asOpenAnswer,
  type GateGradeRequest,
  type GateOpenRequest,
  type Ungraded,
} from './protocol.ts';
import { recallSession } from './session-file.ts';

/** Shorter than the 600 s that the harness gives a Stop hook, and than the hook's own time for it (hook/budgets.ts). */
export const GATE_DEADLINE_MS = 540_000;
/** Blocks in a row for want of an answer in time (oracle-design: PENDING, at most 5). */
const MAX_LATE = 5;
const START_WAIT_MS = 10_000;
const POLL_MS = 50;
const UNGRADED_MS = 1_000;
const NOTE_MS = 2_000;
/** Kept back so that a late answer can still be printed. */
const MARGIN_MS = 5_000;

/** What the harness says when the agent wants to stop. */
export interface StopEvent {
  session_id: string;
  /** Set inside a subagent, which has no gate. */
  agent_id: string | null;
  cwd: string;
  stop_hook_active: boolean;
  permission_mode: string | null;
  /** As the harness lists them. */
  background_tasks: unknown;
}

/** What the gate tells of itself when the collector may not be there: a `notice` of this kind for the spool. */
export type GateNotice = 'gate_failed' | 'gate_error' | 'gate_late' | 'gate_gave_up';

export interface GateDeps {
  home: Home;
  /** Value of PATH, to find git. */
  path: string | undefined;
  deadlineMs?: number;
  /** How long a collector may take to come up. */
  startWaitMs?: number;
  startCollector: () => Promise<void> | void;
  /** Spools a notice durably. `gate_error` and `gate_gave_up` let the agent stop; the other two blocked. */
  note: (kind: GateNotice, reason: string) => Promise<void> | void;
  /** For tests. */
  diff?: (request: DiffRequest) => Promise<Diff>;
}

/** The gate's answer that holds the agent: always the same bytes. Each harness is told it in its own words (adapter.ts). */
export const BLOCK_OUTPUT = printBlock();

/**
 * Decides whether the agent may stop. Returns what to print: `BLOCK_OUTPUT`, or nothing. It never throws and
 * always ends before its deadline. A session without a task is never held, whatever fails. For one with a
 * task, a gate that fails by itself blocks once and then allows; one that gets no answer in time blocks, at
 * most five times in a row. Both are counted under FLIPSTREAM_HOME and noted.
 */
export async function runGate(event: StopEvent, deps: GateDeps): Promise<string> {
  if (event.agent_id !== null) return '';
  const session = recallSession(deps.home, event.session_id);
  if (session && session.task_id === null) return '';
  const ungraded = ungradedReason(event);
  try {
    const block = await decide(event, deps, ungraded);
    await quietly(() => clearFaults(deps.home, event.session_id));
    return block && ungraded === null ? BLOCK_OUTPUT : '';
  } catch (error) {
    if (ungraded !== null) return '';
    // nothing says that it is graded, or something says that it is not: nobody is held for it
    if (session === null || session.base_matches === false)
      return allow(deps, 'gate_error', messageOf(error));
    return error instanceof LateAnswer ? late(event, deps, error) : failed(event, deps, error);
  }
}

function ungradedReason(event: StopEvent): Ungraded | null {
  if (event.permission_mode === 'plan') return 'plan_mode';
  return stillRunning(event.background_tasks) > 0 ? 'background_tasks' : null;
}

const FINISHED = new Set([
  'completed',
  'failed',
  'killed',
  'stopped',
  'cancelled',
  'canceled',
  'done',
  'exited',
]);

function stillRunning(tasks: unknown): number {
  if (!Array.isArray(tasks)) return 0;
  return tasks.filter((task: unknown) => {
    const status = typeof task === 'object' && task !== null && 'status' in task ? task.status : undefined;
    return !(typeof status === 'string' && FINISHED.has(status));
  }).length;
}

async function decide(event: StopEvent, deps: GateDeps, ungraded: Ungraded | null): Promise<boolean> {
  const most = deps.deadlineMs ?? GATE_DEADLINE_MS;
  // an ungraded stop is only recorded: nobody waits for that
  const deadline = performance.now() + (ungraded === null ? most : Math.min(most, UNGRADED_MS));
  const left = () => Math.max(1, Math.floor(deadline - performance.now()));
  const client = await connect(deps.home.collectorSocket);
  try {
    const open: GateOpenRequest = {
      session_id: event.session_id,
      cwd: event.cwd,
      stop_hook_active: event.stop_hook_active,
      permission_mode: event.permission_mode,
      background_tasks: stillRunning(event.background_tasks),
      ungraded,
      deadline_ms: left(),
    };
    const opened = asOpenAnswer(await openWith(client, open, deps, left));
    if (!opened) throw new Error('the collector gave no answer that this hook understands');
    if (opened.action !== 'grade' || ungraded !== null) return opened.action === 'block';
    const diff = await (deps.diff ?? buildDiff)({
      worktree: opened.worktree ?? event.cwd,
      baseCommit: opened.base_commit,
      deadlineMs: Math.min(DIFF_DEADLINE_MS, left()),
      path: deps.path,
    });
    const margin = Math.min(MARGIN_MS, left() / 4);
    const grade: GateGradeRequest = {
      session_id: event.session_id,
      diff: diff.diff.toString('base64'),
      diff_hash: diff.diffHash,
      ...(diff.missing === undefined ? {} : { diff_missing: diff.missing }),
      deadline_ms: Math.max(1, Math.floor(left() - margin)),
    };
    const block = asBlock(await client.post('/gate/grade', grade, left()));
    if (block === null) throw new Error('the collector gave no grade that this hook understands');
    return block;
  } finally {
    client.close();
  }
}

/** Opens the gate; a collector that is not there is started, once, and waited for. */
async function openWith(client: Client, open: GateOpenRequest, deps: GateDeps, left: () => number) {
  const until = performance.now() + Math.min(deps.startWaitMs ?? START_WAIT_MS, left());
  let started = false;
  for (;;) {
    try {
      return await client.post('/gate/open', { ...open, deadline_ms: left() }, left());
    } catch (error) {
      if (!(error instanceof Unreachable) || performance.now() > until) throw error;
    }
    if (!started) await within(left(), deps.startCollector);
    started = true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Fails by itself: blocks once, then allows (oracle-design). A block that cannot be counted is none. */
async function failed(event: StopEvent, deps: GateDeps, error: unknown): Promise<string> {
  const faults = readFaults(deps.home, event.session_id);
  if (faults.failed > 0) return allow(deps, 'gate_error', messageOf(error));
  return block(event, deps, { ...faults, failed: 1 }, 'gate_failed', messageOf(error));
}

async function late(event: StopEvent, deps: GateDeps, error: LateAnswer): Promise<string> {
  const faults = readFaults(deps.home, event.session_id);
  if (faults.late >= MAX_LATE) return allow(deps, 'gate_gave_up', error.message);
  return block(event, deps, { ...faults, late: faults.late + 1 }, 'gate_late', error.message);
}

async function block(
  event: StopEvent,
  deps: GateDeps,
  faults: { failed: number; late: number },
  kind: GateNotice,
  reason: string,
): Promise<string> {
  try {
    writeFaults(deps.home, event.session_id, faults);
  } catch {
    return allow(deps, 'gate_error', reason);
  }
  await quietly(() => deps.note(kind, reason));
  return BLOCK_OUTPUT;
}

async function allow(deps: GateDeps, kind: GateNotice, reason: string): Promise<string> {
  await quietly(() => deps.note(kind, reason));
  return '';
}

async function quietly(work: () => Promise<void> | void): Promise<void> {
  try {
    await within(NOTE_MS, work);
  } catch {
    // what cannot be noted, or taken back, must not change the decision; the spool counts its own losses
  }
}

/** Waits for someone else's work, but not for ever. */
async function within(ms: number, work: () => Promise<void> | void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const out = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work(), out]);
  } finally {
    clearTimeout(timer);
  }
}
