import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AnswerCode, GradeRequest } from '../../schemas/grade.ts';
import { sha256 } from '../../schemas/hash.ts';
import { headerHash } from '../../schemas/header.ts';
import { connect } from '../gate/client.ts';
import { BLOCK_OUTPUT, type GateDeps, runGate } from '../gate/gate.ts';
import { rememberSession } from '../gate/session-file.ts';
import type { Home } from '../home.ts';
import { type Collector, startCollector } from './collector.ts';
import type { Grader } from './grader.ts';
import { ask, entry, type MemoryLog, memoryLog, spool, T0, temporaryHome, told } from './testing.ts';

let home: Home;
let remove: () => void;
let log: MemoryLog;
let collector: Collector;
let now = T0;
let asked: GradeRequest[] = [];
let answers: AnswerCode[] = [];
let hold: Promise<void> = Promise.resolve();
const FACTS = { task_id: 'task', base_commit: 'b'.repeat(40), root_commit: 'r'.repeat(40), _max_attempts: 3 };
const DIFF = 'diff --git a/x b/x\n';

const grader: Grader = async (request) => {
  asked.push(request);
  await hold;
  return { answer: answers.shift() ?? 'FAIL', reached: true };
};

beforeEach(async () => {
  ({ home, remove } = temporaryHome());
  log = memoryLog();
  asked = [];
  answers = [];
  hold = Promise.resolve();
  now = T0 + 60_000;
  await open();
});
afterEach(async () => {
  await collector.stop();
  remove();
});

async function open(): Promise<void> {
  const tune = { scanMs: 20, upkeepMs: 10, restMs: 1 };
  collector = await startCollector({
    home,
    log,
    clock: () => now,
    settings: { v: 1 },
    grader,
    tune,
    warn: () => {},
  });
}

function session(facts: Record<string, string | number | boolean | null> = FACTS): void {
  spool(home, entry(told.start(facts)), entry(told.prompt('fix it')));
  rememberSession(home, 's1', {
    task_id: 'task',
    base_commit: FACTS.base_commit,
    worktree: null,
    base_matches: true,
  });
}

/** A Stop, as the hook does it: first its entry, then the gate. */
async function stop(
  change: Partial<Parameters<typeof runGate>[0]> = {},
  diff = DIFF,
  deps: Partial<GateDeps> = {},
) {
  spool(home, entry(told.stop('I am done.')));
  const event = {
    session_id: 's1',
    agent_id: null,
    cwd: '/',
    stop_hook_active: false,
    permission_mode: 'default',
  };
  const output = await runGate(
    { ...event, background_tasks: [], ...change },
    {
      ...{ home, path: undefined, startCollector: () => {}, note: () => {} },
      diff: async () => ({ diff: Buffer.from(diff), diffHash: sha256(diff) }),
      ...deps,
    },
  );
  expect(['', BLOCK_OUTPUT]).toContain(output);
  return output === BLOCK_OUTPUT;
}

async function events() {
  await ask(home, '/drain', {});
  return log.events;
}
const gates = async () => (await ask(home, '/status')).gates;
const ofKind = async (kind: string) =>
  (await events()).filter((event) => (event.kind ?? event.type) === kind);

test('FAIL, block, fix, PASS, flip: asked for before the oracle is, claimed after it', async () => {
  answers = ['FAIL', 'PASS'];
  session();
  expect(await stop()).toBe(true);
  spool(home, entry(told.callStarted('t1')), entry(told.callEnded('t1')));
  expect(await stop({}, 'the fix')).toBe(false);
  spool(home, entry(told.end()));
  const all = await events();
  const requests = await ofKind('grade_requested');
  const claims = await ofKind('oracle_verdict');
  expect(claims.map((event) => event.verdict)).toEqual(['FAIL', 'PASS']);
  expect(claims.map((event) => event.request_id)).toEqual(requests.map((event) => event.request_id));
  for (const [index, request] of requests.entries()) {
    const before = all[all.indexOf(request) - 1];
    expect(request.prev).toBe(before && headerHash(before));
    expect(asked[index]).toMatchObject({
      head: request.prev,
      request_id: request.request_id,
      task_id: 'task',
    });
    expect(asked[index]?.chain_id).toBe(request.chain_id);
  }
  expect(requests[1]).toMatchObject({
    diff_redacted: 'the fix',
    diff_hash: sha256('the fix'),
    diff_bytes: 7,
  });
  expect(claims[0]).toMatchObject({ attempt: null, mode: 'grade', synthetic: null });
  expect(all.at(-1)).toMatchObject({ outcome: 'flipped', attempts: 2, final_diff_hash: sha256('the fix') });
  expect(await stop()).toBe(false);
  expect(asked).toHaveLength(2);
});

describe('C12 a Stop hook loops for ever, or its crash lets the agent stop', () => {
  test('the budget bounds the attempts, and a restart does not renew it', async () => {
    session();
    expect([await stop({}, '1'), await stop({}, '2')]).toEqual([true, true]);
    await collector.stop();
    await open();
    expect([await stop({}, '3'), await stop({}, '4')]).toEqual([false, false]);
    expect(asked).toHaveLength(3);
    expect((await ofKind('stop_allowed')).map((event) => event.reason)).toEqual(['budget']);
  });

  test('a collector that dies while the oracle thinks: blocked once, then the same request is asked again', async () => {
    session();
    hold = new Promise(() => {});
    const first = stop({}, DIFF, { startWaitMs: 0 });
    await expect.poll(() => asked.length).toBe(1);
    await collector.stop();
    expect(await first).toBe(true);
    hold = Promise.resolve();
    answers = ['PASS'];
    await open();
    expect(await stop()).toBe(false);
    expect(asked[1]).toMatchObject({ request_id: asked[0]?.request_id, head: asked[0]?.head });
    expect(await ofKind('grade_requested')).toHaveLength(1);
    expect((await ofKind('oracle_verdict')).map((event) => event.verdict)).toEqual(['PASS']);
  });

  test('a late PASS counts only for the diff it was asked for', async () => {
    session();
    answers = ['PENDING', 'PASS'];
    expect(await stop({}, 'one')).toBe(true);
    expect(await stop({}, 'one')).toBe(false);
    expect(asked[1]?.request_id).toBe(asked[0]?.request_id);
  });

  test('another diff is another request, with the head of now', async () => {
    session();
    answers = ['PENDING', 'FAIL'];
    expect(await stop({}, 'one')).toBe(true);
    expect(await stop({}, 'two')).toBe(true);
    expect(asked[1]?.request_id).not.toBe(asked[0]?.request_id);
    expect(asked[1]?.head).not.toBe(asked[0]?.head);
  });

  test('what the gate says of its own failure is the outcome', async () => {
    session();
    spool(home, entry(told.notice('gate_failed')), entry(told.notice('gate_error')), entry(told.end()));
    expect((await events()).at(-1)).toMatchObject({ outcome: 'gate_error' });
  });
});

test('one grade in flight a session: a second gate gets the first’s answer', async () => {
  session();
  let release = () => {};
  hold = new Promise((resolve) => {
    release = resolve;
  });
  const first = stop();
  await expect.poll(() => asked.length).toBe(1);
  const second = stop();
  await expect.poll(gates).toEqual({ working: 1, waiting: 1 });
  release();
  expect(await Promise.all([first, second])).toEqual([true, true]);
  expect(asked).toHaveLength(1);
});

test('a gate that is killed gives its session free for the next', async () => {
  session();
  let kill = () => {};
  const diff = () =>
    new Promise<never>((_, reject) => {
      kill = () => reject(new Error('killed'));
    });
  const first = stop({}, DIFF, { diff });
  await expect.poll(gates).toEqual({ working: 1, waiting: 0 });
  const second = stop();
  await expect.poll(gates).toEqual({ working: 1, waiting: 1 });
  kill();
  expect(await first).toBe(true);
  expect(await second).toBe(true);
  expect(asked).toHaveLength(1);
});

test.each([
  ['plan mode', { permission_mode: 'plan' }, 'plan_mode'],
  ['background tasks still running', { background_tasks: [{ status: 'running' }] }, 'background_tasks'],
])('%s: let through, ungraded, recorded', async (_, change, reason) => {
  session();
  expect(await stop(change)).toBe(false);
  expect((await ofKind('stop_allowed')).map((event) => event.reason)).toEqual([reason]);
  spool(home, entry(told.end()));
  expect((await events()).at(-1)).toMatchObject({ outcome: 'ungraded' });
  expect(asked).toEqual([]);
});

test('HEAD not on the base: never graded, recorded', async () => {
  session({ ...FACTS, _base_matches: false });
  expect(await stop()).toBe(false);
  expect((await ofKind('stop_allowed')).map((event) => event.reason)).toEqual(['not_on_base']);
  expect(asked).toEqual([]);
});

test('C6 a subagent has no gate, and a session without a task has none to wait for', async () => {
  session();
  const open = { session_id: 's1', cwd: '/', agent_id: 'a1' };
  expect(await ask(home, '/gate/open', open)).toMatchObject({ action: 'allow' });
  expect(await ask(home, '/gate/open', { ...open, session_id: 'nobody', agent_id: null })).toMatchObject({
    action: 'allow',
  });
  expect(await ofKind('stop_allowed')).toEqual([]);
});

test.each<AnswerCode>(['FAIL', 'ERROR', 'PENDING'])(
  '%s over the socket is one bit, as at the Stop',
  async (code) => {
    session();
    answers = [code];
    const client = await connect(home.collectorSocket);
    const grade = { diff: Buffer.from(DIFF).toString('base64'), diff_hash: sha256(DIFF), deadline_ms: 5000 };
    try {
      await client.post('/gate/open', { session_id: 's1' }, 5000);
      expect(await client.post('/gate/grade', { session_id: 's1', ...grade }, 5000)).toEqual({ block: true });
    } finally {
      client.close();
    }
  },
);

test('a secret that ends where the trace stops reading a diff is not half told', async () => {
  session();
  const body = `${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n'.repeat(24)}`;
  const key = `-----BEGIN PRIVATE KEY-----\n${body}-----END PRIVATE KEY-----\n`;
  // redacted, what was read of it takes far less than the limit
  const keys = key.repeat(Math.ceil((70 * 1024) / key.length));
  const before = `${keys}${'x = 1\n'.repeat(10_000)}`.slice(0, 128 * 1024 - 24);
  await stop({}, `${before}\nghp_${'a1b2c3d4e5'.repeat(4)}\n`);
  const [request] = await ofKind('grade_requested');
  expect(request?.diff_redacted).toContain('[REDACTED:private_key]');
  expect(request?.diff_redacted).not.toContain('ghp_');
  expect(request).toMatchObject({ truncated: true, diff_bytes: before.length + 46 });
});

test('a secret in the diff is redacted in the trace, and the oracle gets it whole', async () => {
  session();
  const secret = `+key = "AKIA${'ABCDEFGH'.repeat(2)}"\n`;
  await stop({}, secret);
  const [request] = await ofKind('grade_requested');
  expect(request?.diff_redacted).not.toContain('AKIAABCD');
  expect(Buffer.from(asked[0]?.diff ?? '', 'base64').toString()).toBe(secret);
});

test('a grade without an opening, with another diff than its hash, or no JSON is refused', async () => {
  session();
  const grade = { session_id: 's1', diff: '', diff_hash: 'x'.repeat(64), deadline_ms: 1000 };
  expect(await ask(home, '/gate/grade', grade)).toEqual({ error: 'gate_not_open' });
  expect(await ask(home, '/gate/grade', { session_id: 1 })).toEqual({ error: 'bad_request' });
});
