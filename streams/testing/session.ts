/** Sessions as a collector and an oracle would record them: real header hashes, digests and signatures. */
import type { TraceEvent, Verdict } from '../../schemas/generated.ts';
import { saltedDigest, sha256 } from '../../schemas/hash.ts';
import { headerHash } from '../../schemas/header.ts';
import { blankEvent } from '../../schemas/testing.ts';
import { TASK, type TestOracle, type TestTask } from './oracle.ts';

export interface SessionOptions {
  sessionId?: string;
  chainId?: string;
  task?: TestTask;
  /** Time of the first event, milliseconds. */
  at?: number;
  /** Fields of the first session_start. */
  start?: Partial<TraceEvent>;
}

export interface TestSession {
  sessionId: string;
  chainId: string;
  task: TestTask;
  events: TraceEvent[];
  verdicts: Verdict[];
  /** Appends an event to the chain; content fields get their digests. */
  add(fields: Partial<TraceEvent>): TraceEvent;
  /** The request that goes before a grade; its `prev` is the head. */
  ask(requestId: string): TraceEvent;
  /** What the gate was answered. */
  claim(requestId: string, verdict: string): TraceEvent;
  end(outcome: string): TraceEvent;
}

/** Begins a session with its session_start. */
export function beginSession(options: SessionOptions = {}): TestSession {
  const { sessionId = 'session-1', chainId = 'home-1', task = TASK, at = Date.UTC(2026, 5, 1) } = options;
  const events: TraceEvent[] = [];

  function add(fields: Partial<TraceEvent>): TraceEvent {
    const seq = events.length;
    const last = events.at(-1);
    const event: TraceEvent = {
      ...blankEvent(),
      event_id: sha256(`${sessionId} ${chainId} ${seq}`),
      session_id: sessionId,
      chain_id: chainId,
      seq,
      prev: last ? headerHash(last) : null,
      ts: new Date(at + seq * 1000).toISOString(),
      harness: 'claude-code',
      host_id: 'host-1',
      ...fields,
    };
    const whole = withDigests(event);
    events.push(whole);
    return whole;
  }

  add({
    type: 'session_start',
    model: 'model-1',
    source: 'startup',
    root_commit: 'a'.repeat(40),
    base_commit: task.base_commit,
    task_id: task.task_id,
    task_source: 'dispatch',
    tree_hash: 'clean',
    inherited: false,
    ...options.start,
  });
  return {
    sessionId,
    chainId,
    task,
    events,
    verdicts: [],
    add,
    ask: (request_id) =>
      add({
        type: 'notice',
        kind: 'grade_requested',
        request_id,
        task_id: task.task_id,
        base_commit: task.base_commit,
        diff_hash: sha256(request_id),
      }),
    claim: (request_id, verdict) => add({ type: 'oracle_verdict', mode: 'grade', request_id, verdict }),
    end: (outcome) => add({ type: 'session_end', outcome }),
  };
}

function withDigests(event: TraceEvent): TraceEvent {
  const salt = event.salt ?? sha256(event.event_id).slice(0, 32);
  const done = { ...event };
  for (const field of ['text', 'input', 'output', 'result', 'diff'] as const) {
    const content = event[`${field}_redacted`];
    if (content === null) continue;
    done.salt = salt;
    done[`${field}_digest`] = saltedDigest(salt, content);
  }
  return done;
}

export interface GradedOptions extends SessionOptions {
  oracle: TestOracle;
  /** What the oracle says at each stop, in order. Default: FAIL, then PASS. */
  answers?: readonly ('PASS' | 'FAIL' | 'ERROR')[];
  outcome?: string;
}

/** A whole session: work, a stop and its grade for each answer, the end. The baseline is its first verdict. */
export function gradedSession({
  oracle,
  answers = ['FAIL', 'PASS'],
  ...options
}: GradedOptions): TestSession {
  const session = beginSession(options);
  const { sessionId, chainId, task } = session;
  session.verdicts.push(oracle.baseline(task));
  let attempt = 0;
  answers.forEach((answer, index) => {
    const turn = index + 1;
    session.add({ type: 'message', role: 'user', turn, text_redacted: `please ${turn}` });
    session.add({
      type: 'tool_call',
      turn,
      tool_name: 'Bash',
      status: index % 2 ? 'ok' : 'error',
      input_redacted: JSON.stringify({ command: `run ${turn}` }),
      output_redacted: `did ${turn}`,
    });
    session.add({ type: 'message', role: 'assistant', turn, text_redacted: 'done' });
    const requestId = `${sessionId}-r${turn}`;
    const asked = session.ask(requestId);
    if (answer !== 'ERROR') attempt++;
    session.verdicts.push(
      oracle.sign(
        {
          request_id: requestId,
          session_id: sessionId,
          chain_id: chainId,
          head: asked.prev,
          attempt,
          verdict: answer,
          diff_hash: asked.diff_hash,
        },
        task,
      ),
    );
    session.claim(requestId, answer);
  });
  session.end(options.outcome ?? (answers.includes('PASS') ? 'flipped' : 'no_flip'));
  return session;
}
