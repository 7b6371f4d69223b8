import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { layout } from '../producers/home.ts';
import { mainScript } from './package.ts';
import { type Sandbox, sandbox } from './testing.ts';
import { landSample } from './testing-warehouse.ts';

let box: Sandbox;
beforeAll(async () => {
  box = sandbox();
  await landSample(layout(join(box.root, 'home')));
  mkdirSync(join(box.root, 'traces'));
  writeFileSync(join(box.root, 'traces', 'one.jsonl'), '{"type":"summary"}\n');
});
let started: ChildProcess | null = null;
afterEach(() => void started?.kill('SIGKILL'));
afterAll(() => box.remove());

const stopped = (argv: readonly string[]) => box.flipstream(argv, { signal: AbortSignal.abort() });

test.each([
  [['import', 'traces']],
  [['sql', 'select 1']],
  [['sessions']],
  [['flips']],
  [['doctor']],
  [['run', '--', process.execPath, '-e', 'setTimeout(() => {}, 60_000)']],
])('%j that is stopped before it was done ends with 130 and says nothing', async (argv) => {
  expect(await stopped(argv)).toEqual(expect.objectContaining({ code: 130, out: '', err: '' }));
});

test.each(['archive', 'log'])('a replay from the %s that is stopped leaves nothing behind', async (from) => {
  expect(await stopped(['replay', 'fresh', '--from', from])).toMatchObject({ code: 130, out: '', err: '' });
  expect(existsSync(join(box.root, 'fresh')) ? readdirSync(join(box.root, 'fresh')) : []).toEqual([]);
});

test('a demo that is stopped begins nothing more', async () => {
  const { code, out, err } = await stopped(['demo']);
  expect([code, out, err.trim().split('\n').length]).toEqual([130, '', 1]);
});

test('a file that was being written when it was stopped is gone', async () => {
  const child = spawn(process.execPath, [mainScript(), 'sql', 'from range(9_000_000)', '--out', 'big.csv'], {
    ...{ cwd: box.root, env: box.env },
  });
  started = child;
  const ended = new Promise((resolve) => child.once('close', (...how) => resolve(how)));
  const parts = () => readdirSync(box.root).filter((name) => name.startsWith('big.csv'));
  await vi.waitFor(() => expect(parts()).toHaveLength(1), { timeout: 30_000, interval: 5 });
  child.kill('SIGTERM');
  expect(await ended).toEqual([130, null]);
  expect(parts()).toEqual([]);
});

test('what runs until it is stopped is done then', async () => {
  expect(await stopped(['flips', '--follow'])).toMatchObject({ code: 0, out: '', err: '' });
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s that comes twice, from a launcher too, is one',
  async (signal) => {
    const child = spawn(process.execPath, [mainScript(), 'sql'], { cwd: box.root, env: box.env });
    started = child;
    const ended = new Promise((resolve) => child.once('close', (...how) => resolve(how)));
    const said = new Promise((resolve) => child.stdout.once('data', resolve));
    child.stdin.write('select 42 as n;\n');
    expect(String(await said)).toContain('42');
    child.kill(signal);
    child.kill(signal);
    expect(await ended).toEqual([130, null]);
  },
  60_000,
);
