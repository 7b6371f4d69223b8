import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type Home, layout } from '../../producers/home.ts';
import { readSettings } from '../../producers/settings.ts';
import { askCollector } from '../doctor/collector-status.ts';
import { mainScript } from '../package.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import { supervise } from '../up/supervise.ts';
import { partOf } from './up.ts';

let box: Sandbox;
let home: Home;
beforeEach(async () => {
  box = sandbox();
  delete box.env.FLIPSTREAM_HOME;
  delete box.env.FLIPSTREAM_ORACLE_HOME;
  home = layout(join(box.root, 'my', 'home'));
  mkdirSync(join(box.root, 'my'));
  await box.flipstream(['init', 'claude-code', '--yes', '--home', 'my/home', '--oracle-home', 'elsewhere']);
});
let started: ChildProcess | null = null;
afterEach(async () => {
  started?.kill('SIGKILL'); // its parts end with it
  const left = await askCollector(home);
  if (left && isAlive(left.pid)) process.kill(left.pid, 'SIGKILL');
  box.remove();
});

const Registered = z.object({
  hooks: z.object({
    SessionStart: z.tuple([z.object({ hooks: z.tuple([z.object({ command: z.string() })]) })]),
  }),
});
const Running = z.object({ running: z.array(z.string()), pids: z.record(z.string(), z.number()) });

/** Runs the hook exactly as it is registered, with nothing of ours in its environment. */
function hookOf(settings: string): Promise<unknown> {
  const [{ command }] = Registered.parse(JSON.parse(readFileSync(settings, 'utf8'))).hooks.SessionStart[0]
    .hooks;
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: box.root,
    env: box.env,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const payload = { session_id: 's', hook_event_name: 'SessionStart', cwd: box.root, source: 'startup' };
  child.stdin.end(JSON.stringify({ ...payload, transcript_path: join(box.root, 'none.jsonl') }));
  return new Promise((resolve) => child.once('close', resolve));
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a collector that a hook started makes way for up, a second up disturbs nothing, and nothing is left', async () => {
  await hookOf(join(box.root, 'claude', 'settings.json'));
  const lone = await vi.waitFor(
    async () => {
      const status = await askCollector(home);
      expect(status).not.toBeNull();
      return status?.pid ?? 0;
    },
    { timeout: 20_000, interval: 50 },
  );

  const up = spawn(process.execPath, [mainScript(), 'up', '--json', '--home', home.root], { env: box.env });
  started = up;
  const ended = new Promise((resolve) => up.once('close', resolve));
  let said = '';
  up.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const first = await new Promise<string>((resolve) =>
    up.stdout.once('data', (chunk) => resolve(`${chunk}`)),
  );
  const { running, pids } = Running.parse(JSON.parse(first));
  expect(running).toEqual(['collector', 'streams', 'sink', 'oracle']);
  expect(said).toContain('takes the place of a collector that ran alone');
  await vi.waitFor(() => expect(isAlive(lone)).toBe(false), 5000);

  const second = await box.flipstream(['up', '--home', home.root]);
  expect(second).toMatchObject({ code: 2, out: '' });
  expect(second.err).toBe(
    `flipstream up already runs for ${home.root}: stop it first, or name another --home.\n`,
  );
  expect(await askCollector(home)).toMatchObject({ pid: pids.collector });

  up.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(await askCollector(home)).toBeNull();
  expect(Object.values(pids).filter(isAlive)).toEqual([]);
});

test('what another start would not mend ends up with one sentence and exit 2', async () => {
  const up = () => box.flipstream(['up', '--home', home.root]);
  rmSync(home.keyRing);
  const ran = await up();
  expect(ran).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(/no key ring at .*keyring\.json, .*init.*\n$/),
  });
  expect(ran.err.trim().split('\n')).toHaveLength(1);

  writeFileSync(home.config, '{');
  expect(await up()).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(/config\.json cannot .*\n$/),
  });
});

test('an oracle whose port is taken is not started for ever', async () => {
  const port = Number(new URL(readSettings(home).oracle?.url ?? '').port);
  const taken = createServer().listen(port, '127.0.0.1');
  const part = partOf('oracle', home.root, join(box.root, 'elsewhere'), {});
  const supervisor = supervise([part], box.env, pino({ level: 'silent' }));
  await expect(supervisor.ready).rejects.toMatchObject({ code: 'oracle_port', kind: 'usage' });
  await supervisor.stop();
  taken.close();
});
