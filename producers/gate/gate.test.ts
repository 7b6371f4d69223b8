import { createServer, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BLOCK_REASON } from '../../schemas/block-reason.ts';
import { sha256 } from '../../schemas/hash.ts';
import { PATH, type Planted, put, remove, repository, temporary } from '../git/testing.ts';
import { type Home, layout } from '../home.ts';
import { BLOCK_OUTPUT, type GateDeps, type GateNotice, runGate, type StopEvent } from './gate.ts';
import { rememberSession } from './session-file.ts';

let root: string;
let home: Home;
let repo: Planted;
let notes: GateNotice[];
let collector: Server | undefined;
beforeEach(() => {
  root = temporary();
  home = layout(join(root, 'home'));
  repo = repository(root);
  notes = [];
  const session = { task_id: 'task-1', base_commit: repo.base, worktree: repo.dir, base_matches: null };
  rememberSession(home, 'elsewhere', { ...session, base_matches: false });
  rememberSession(home, 's1', session);
  rememberSession(home, 'traced', { ...session, task_id: null });
});
afterEach(async () => {
  collector?.closeAllConnections();
  await new Promise((resolve) => (collector ? collector.close(resolve) : resolve(undefined)));
  collector = undefined;
  remove(root);
});

type Asked = { path: string; body: Record<string, unknown>; connection: unknown };
type Reply = (asked: Asked, response: ServerResponse) => object | undefined;

/** A collector that answers as told and remembers what it was asked; `undefined`: it stays silent. */
async function collect(reply: Reply): Promise<Asked[]> {
  const asked: Asked[] = [];
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      const one = { path: request.url ?? '', body, connection: request.socket };
      asked.push(one);
      const answer = reply(one, response);
      if (answer) response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => collector?.listen(home.collectorSocket, resolve));
  return asked;
}

const grading =
  (answer: string, block: boolean): Reply =>
  ({ path }) =>
    path === '/gate/open'
      ? { action: 'grade', base_commit: repo.base, worktree: repo.dir }
      : { answer, block };

const stop = (over: Partial<StopEvent> = {}): StopEvent => ({
  session_id: 's1',
  agent_id: null,
  cwd: repo.dir,
  stop_hook_active: false,
  permission_mode: 'default',
  background_tasks: [],
  ...over,
});
const gate = (over: Partial<StopEvent> = {}, deps: Partial<GateDeps> = {}) =>
  runGate(stop(over), {
    home,
    path: PATH,
    startWaitMs: 100,
    startCollector: () => {},
    note: (kind) => void notes.push(kind),
    ...deps,
  });

describe('what the agent sees', () => {
  test('PASS: nothing; FAIL, ERROR and PENDING: the same bytes, the one constant sentence', async () => {
    expect(JSON.parse(BLOCK_OUTPUT)).toEqual({ decision: 'block', reason: BLOCK_REASON });
    for (const [answer, block] of [
      ['PASS', false],
      ['FAIL', true],
      ['ERROR', true],
      ['PENDING', true],
      ['NO_TASK', false],
    ] as const) {
      await collect(grading(answer, block));
      expect([answer, await gate()]).toEqual([answer, block ? BLOCK_OUTPUT : '']);
      collector?.closeAllConnections();
      await new Promise((resolve) => collector?.close(resolve));
    }
    expect(BLOCK_OUTPUT).not.toMatch(/\d/);
    expect(notes).toEqual([]);
  });

  test('the diff of the tree is sent, against the base of the first start, on one connection', async () => {
    const asked = await collect(grading('FAIL', true));
    put(repo.dir, 'a.txt', 'two\n');
    await gate({ cwd: root });
    expect(asked.map(({ path }) => path)).toEqual(['/gate/open', '/gate/grade']);
    expect(Buffer.from(String(asked[1]?.body.diff), 'base64').toString()).toContain('+two');
    expect(asked[1]?.body.diff_missing).toBeUndefined();
    expect(asked[1]?.connection).toBe(asked[0]?.connection);
  });

  test('a diff that cannot be built is asked about all the same, empty and marked', async () => {
    const asked = await collect(grading('FAIL', true));
    remove(join(repo.dir, '.git'));
    expect(await gate()).toBe(BLOCK_OUTPUT);
    expect(asked[1]?.body).toMatchObject({ diff: '', diff_missing: 'not_a_repository' });
  });
});

describe('C6 subagents, plan mode, background tasks', () => {
  test('C6 no gate in a subagent', async () => {
    const asked = await collect(grading('FAIL', true));
    expect(await gate({ agent_id: 'sub' })).toBe('');
    expect(asked).toEqual([]);
  });

  test('plan mode and running background tasks are allowed, ungraded, and the collector is told so', async () => {
    const asked = await collect(() => ({ action: 'block' }));
    expect(await gate({ permission_mode: 'plan' })).toBe('');
    expect(await gate({ background_tasks: [{ id: 'b1', status: 'running' }, { status: 'completed' }] })).toBe(
      '',
    );
    expect(asked.map(({ body }) => [body.ungraded, body.background_tasks])).toEqual([
      ['plan_mode', 0],
      ['background_tasks', 1],
    ]);
    expect(await gate({ background_tasks: [{ status: 'completed' }] })).toBe(BLOCK_OUTPUT);
  });

  test('with no collector they are allowed without a fault', async () => {
    expect(await gate({ permission_mode: 'plan' })).toBe('');
    expect(notes).toEqual([]);
  });
});

describe('C12 a Stop hook loops for ever, or its crash lets the agent stop', () => {
  test('C12 no collector comes up: blocks once, then allows, and says so', async () => {
    const start = vi.fn();
    expect(await gate({}, { startCollector: start })).toBe(BLOCK_OUTPUT);
    expect(await gate({}, { startCollector: start })).toBe('');
    expect(await gate({}, { startCollector: start })).toBe('');
    expect(notes).toEqual(['gate_failed', 'gate_error', 'gate_error']);
    expect(start).toHaveBeenCalledTimes(3);
  });

  test('C12 a collector that is down is started and then asked', async () => {
    const startCollector = async () => void (await collect(grading('PASS', false)));
    expect(await gate({}, { startCollector, startWaitMs: 5000 })).toBe('');
    expect(notes).toEqual([]);
  });

  test('C12 an answer in between makes the next failure the first again', async () => {
    expect(await gate()).toBe(BLOCK_OUTPUT);
    await collect(grading('FAIL', true));
    expect(await gate()).toBe(BLOCK_OUTPUT);
    collector?.closeAllConnections();
    await new Promise((resolve) => collector?.close(resolve));
    collector = undefined;
    expect(await gate()).toBe(BLOCK_OUTPUT);
    expect(await gate()).toBe('');
    expect(notes).toEqual(['gate_failed', 'gate_failed', 'gate_error']);
  });

  test.each([
    [
      'an error status',
      (_: Asked, response: ServerResponse) => {
        response.statusCode = 500;
        return {};
      },
    ],
    ['no JSON', (_: Asked, response: ServerResponse) => void response.end('oops')],
    ['an unknown action', () => ({ action: 'explode' })],
    ['a connection cut', (_: Asked, response: ServerResponse) => void response.destroy()],
    [
      'no grade',
      ({ path }: Asked) => (path === '/gate/open' ? { action: 'grade', base_commit: repo.base } : {}),
    ],
  ] as [string, Reply][])('C12 %s from the collector counts as a failure of the gate', async (_, reply) => {
    await collect(reply);
    expect(await gate()).toBe(BLOCK_OUTPUT);
    expect(await gate()).toBe('');
    expect(notes).toEqual(['gate_failed', 'gate_error']);
  });

  test('C12 no answer before the deadline: the constant block, five times at most, then allowed', async () => {
    await collect(({ path }) =>
      path === '/gate/open' ? { action: 'grade', base_commit: repo.base } : undefined,
    );
    const outputs: string[] = [];
    const diff = async () => ({ diff: Buffer.alloc(0), diffHash: 'x' });
    for (let i = 0; i < 6; i++) outputs.push(await gate({}, { deadlineMs: 60, diff }));
    expect(outputs).toEqual([...Array(5).fill(BLOCK_OUTPUT), '']);
    expect(notes).toEqual([...Array(5).fill('gate_late'), 'gate_gave_up']);
  });

  test('C12 the collector is given less time than the gate has', async () => {
    const asked = await collect(grading('PENDING', true));
    await gate({}, { deadlineMs: 4000 });
    expect(Number(asked[1]?.body.deadline_ms)).toBeLessThan(Number(asked[0]?.body.deadline_ms));
    expect(Number(asked[1]?.body.deadline_ms)).toBeGreaterThan(1000);
  });

  test('C12 a block that cannot be counted is none: a disk that refuses does not hold the agent', async () => {
    put(home.root, `gate/${sha256('s1')}.faults.json/in-the-way`, '');
    expect(await gate()).toBe('');
    expect(notes).toEqual(['gate_error']);
  });

  test('C12 a count that cannot be taken back changes no decision', async () => {
    put(home.root, `gate/${sha256('s1')}.faults.json/in-the-way`, '');
    await collect(grading('FAIL', true));
    expect(await gate()).toBe(BLOCK_OUTPUT);
    expect(notes).toEqual([]);
  });

  test('C12 a note that cannot be kept changes no decision', async () => {
    const note = () => {
      throw new Error('disk full');
    };
    expect(await gate({}, { note })).toBe(BLOCK_OUTPUT);
    expect(await gate({}, { note })).toBe('');
  });

  test('C12 a start of the collector that hangs does not hang the gate', async () => {
    const startCollector = () => new Promise<void>(() => {});
    expect(await gate({}, { startCollector, deadlineMs: 80 })).toBe(BLOCK_OUTPUT);
    expect(notes).toEqual(['gate_failed']);
  });

  test('a session that began away from its base is asked about, and not held when nobody answers', async () => {
    expect(await gate({ session_id: 'elsewhere' })).toBe('');
    const asked = await collect(grading('NO_TASK', false));
    expect(await gate({ session_id: 'elsewhere' })).toBe('');
    expect(asked).toHaveLength(2);
  });

  test('a session without a task is never held, and nobody is asked', async () => {
    const asked = await collect(grading('FAIL', true));
    expect(await gate({ session_id: 'traced' })).toBe('');
    expect(asked).toEqual([]);
  });

  test('a session whose start was not seen is asked about, and not held when nobody answers', async () => {
    expect(await gate({ session_id: 'unseen' })).toBe('');
    expect(notes).toEqual(['gate_error']);
    await collect(grading('FAIL', true));
    expect(await gate({ session_id: 'unseen' })).toBe(BLOCK_OUTPUT);
  });
});
