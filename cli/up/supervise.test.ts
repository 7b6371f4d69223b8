import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, expect, test, vi } from 'vitest';
import { mainScript } from '../package.ts';
import { type Supervisor, supervise } from './supervise.ts';

const root = mkdtempSync(join(tmpdir(), 'flipstream-parts-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const logger = pino({ level: 'silent' });
const run = (script: string): Supervisor =>
  supervise(
    [{ name: 'part', args: ['-e', script], compiled: join(root, 'compiled') }],
    { PATH: process.env.PATH, MARK: join(root, 'mark') },
    logger,
  );

test('a part that crashes is started again', async () => {
  const supervisor = run(
    `const fs = require('fs');
     if (!fs.existsSync(process.env.MARK)) { fs.writeFileSync(process.env.MARK, ''); process.exit(1); }
     process.send({ ready: 'part' }); process.on('SIGTERM', () => process.exit(0));`,
  );
  await supervisor.ready;
  expect(existsSync(join(root, 'mark'))).toBe(true);
  const pid = supervisor.pids().part ?? 0;
  await supervisor.stop();
  expect(() => process.kill(pid, 0)).toThrow();
});

test('a part that could not even be started is tried again', async () => {
  const { execPath } = process;
  process.execPath = join(root, 'not-there-for-a-moment');
  const supervisor = run(`process.send({ ready: 'part' }); process.on('SIGTERM', () => process.exit(0));`);
  await vi.waitFor(() => expect(supervisor.pids()).toEqual({}));
  process.execPath = execPath;
  await supervisor.ready;
  await supervisor.stop();
  expect(supervisor.pids()).toEqual({});
});

test('a part whose start fails at once, as for want of memory, is tried again like any other', async () => {
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, TOO_LONG: 'x'.repeat(2 ** 20) };
  const told: unknown[] = [];
  const log = pino({ base: null }, { write: (line: string) => void told.push(JSON.parse(line)) });
  const script = `process.send({ ready: 'part' }); process.on('SIGTERM', () => process.exit(0));`;
  const supervisor = supervise(
    [{ name: 'part', args: ['-e', script], compiled: join(root, 'compiled') }],
    env,
    log,
  );
  expect(supervisor.pids()).toEqual({});
  expect(told).toMatchObject([{ part: 'part', again_in_ms: 200, msg: 'a part cannot be started' }]);
  delete env.TOO_LONG;
  await supervisor.ready;
  await supervisor.stop();
});

test('a part that another start would not mend is not started again, and says why', async () => {
  const supervisor = run(
    `process.send({ failed: { code: 'x', kind: 'fatal', message: 'No.' } }, () => process.exit(1))`,
  );
  await expect(supervisor.ready).rejects.toMatchObject({ code: 'x', kind: 'fatal', message: 'No.' });
  expect(await supervisor.failed).toMatchObject({ code: 'x' });
  await supervisor.stop();
  expect(supervisor.pids()).toEqual({});
});

test('a part that is asked for its figures and gives none, or has ended, has null', async () => {
  const supervisor = run(
    `process.on('message', ({ asked }) => asked % 2 ? process.send({ figures: null, asked }) : process.exit(1));
     process.send({ ready: 'part' }); process.on('SIGTERM', () => process.exit(0));`,
  );
  await supervisor.ready;
  expect(await supervisor.figures()).toEqual({ part: null });
  expect(await supervisor.figures()).toEqual({ part: null });
  expect(await supervisor.figures()).toEqual({ part: null });
  await supervisor.stop();
});

test('a part whose up is killed before it has begun ends too', async () => {
  const args = [mainScript(), 'up', '--role', 'sink', '--home', join(root, 'orphan')];
  const parent = spawnSync(
    process.execPath,
    [
      '-e',
      `const { spawn } = require('child_process');
       const part = spawn(process.execPath, ${JSON.stringify(args)}, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
       require('fs').writeSync(1, String(part.pid)); process.kill(process.pid, 'SIGKILL');`,
    ],
    { encoding: 'utf8' },
  );
  const pid = Number(parent.stdout);
  expect(pid).toBeGreaterThan(1);
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), { timeout: 25_000, interval: 100 });
});
