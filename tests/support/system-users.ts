/** One machine with real users: an oracle's, a collector's that has the home, and agents'. Only root can make it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { runGit } from '../../oracle/testing.ts';
import { type Home, layout } from '../../producers/home.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const CLI = join(ROOT, 'cli/main.ts');
/** An account that every Linux has, and that owns nothing here. */
export const COLLECTOR = { name: 'daemon', uid: 1 };
const ORACLE = 61_001;

export interface Said {
  code: number | null;
  out: string;
  err: string;
}

interface RunOptions {
  stdin?: string;
  cwd?: string;
  program?: string;
}

export interface User {
  uid: number;
  dir: string;
  /** @param options.program default: Node */
  run(argv: readonly string[], options?: RunOptions): Promise<Said>;
  /** Starts a command of ours and resolves when it has said that it runs. */
  start(argv: readonly string[]): Promise<ChildProcess>;
}

export interface Machine {
  root: string;
  home: Home;
  asRoot: User;
  collector: User;
  /** What `init` registered, as the harness runs it. */
  hook(agent: User, cwd: string, payload: object): Promise<string>;
  user(uid: number, name: string): User;
  /** A clone of the demo's task that belongs to an agent's user. */
  clone(agent: User): Promise<string>;
  fix: string;
}

/** Runs a command of ours, which has to succeed. */
export async function cli(user: User, ...argv: string[]): Promise<string> {
  const said = await user.run([CLI, ...argv]);
  expect(said, argv.join(' ')).toMatchObject({ code: 0 });
  return said.out;
}

function userAt(root: string, uid: number, name: string): User {
  const dir = join(root, name);
  mkdirSync(dir);
  chownSync(dir, uid, uid);
  chmodSync(dir, 0o700);
  const env = {
    PATH: process.env.PATH,
    HOME: dir,
    FLIPSTREAM_HOME: join(dir, 'host'),
    FLIPSTREAM_ORACLE_HOME: join(dir, 'oracle'),
  };
  const begin = (argv: readonly string[], cwd = '/', program = process.execPath) =>
    spawn(program, argv, { uid, gid: uid, env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  return {
    uid,
    dir,
    async run(argv, { stdin = '', cwd, program } = {}) {
      const child = begin(argv, cwd, program);
      child.stdin.on('error', () => {}); // it may end before it has read all
      child.stdin.end(stdin);
      const [out, err, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      return { code: z.number().nullable().parse(code), out, err };
    },
    async start(argv) {
      const child = begin([CLI, ...argv]);
      onTestFinished(() => void child.kill('SIGKILL'));
      let err = '';
      child.stderr.on('data', (chunk: Buffer) => {
        err += chunk.toString();
      });
      const ended = once(child, 'exit').then(() => Promise.reject(new Error(err)));
      await Promise.race([once(child.stdout, 'data'), ended]);
      ended.catch(() => {}); // stopped later, by the test
      return child;
    },
  };
}

const Handlers = z.looseObject({
  hooks: z.record(
    z.string(),
    z.array(
      z.object({ hooks: z.array(z.object({ command: z.string(), args: z.array(z.string()).default([]) })) }),
    ),
  ),
});

function demoTask(root: string): string {
  const task = join(root, 'task');
  cpSync(join(ROOT, 'examples/demo'), task, { recursive: true });
  const repository = join(task, 'repo');
  runGit(repository, 'init', '--quiet');
  runGit(repository, 'add', '--all');
  runGit(repository, 'commit', '--quiet', '--message', 'base');
  return task;
}

/** Only inside a test. An oracle serves on a socket, and `init --system` has been run. */
export async function machine(): Promise<Machine> {
  const root = mkdtempSync(join(tmpdir(), 'fs-sys-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  chmodSync(root, 0o755);
  const task = demoTask(root);
  const oracle = userAt(root, ORACLE, 'oracle');
  const run = join(root, 'run');
  mkdirSync(run);
  chownSync(run, ORACLE, ORACLE);
  await cli(oracle, 'oracle', 'task', 'add', task);
  expect(await cli(oracle, 'oracle', 'task', 'check', 'demo-split-bill')).toContain('is ready');
  const [token, settings] = [join(root, 'token'), join(root, 'managed-settings.json')];
  writeFileSync(token, await cli(oracle, 'oracle', 'token', 'laptop'), { mode: 0o600 });
  await oracle.start([
    'oracle',
    'serve',
    '--listen',
    `unix:${join(run, 'oracle.sock')}`,
    '--bucket-ms',
    '50',
  ]);
  const asRoot = userAt(root, 0, 'root');
  const home = layout(join(root, 'home'));
  const init = ['init', 'claude-code', '--system', COLLECTOR.name, '--settings', settings, '--yes'];
  const at = ['--oracle', `unix:${join(run, 'oracle.sock')}`, '--oracle-token-file', token];
  await cli(asRoot, ...init, ...at, '--home', home.root);
  const ring = join(root, 'ring.json');
  writeFileSync(ring, await cli(oracle, 'oracle', 'key', 'export'));
  await cli(asRoot, 'key-ring', 'accept', ring, '--yes', '--home', home.root);
  return {
    ...{ root, home, asRoot, fix: readFileSync(join(task, 'fix.patch'), 'utf8') },
    collector: userAt(root, COLLECTOR.uid, 'collector'),
    user: (uid, name) => userAt(root, uid, name),
    async hook(agent, cwd, payload) {
      const read = await agent.run(['-p', `require('fs').readFileSync(${JSON.stringify(settings)}, 'utf8')`]);
      const { hooks } = Handlers.parse(JSON.parse(read.out));
      const name = z.object({ hook_event_name: z.string() }).parse(payload).hook_event_name;
      const handler = hooks[name]?.[0]?.hooks[0];
      expect(handler?.command).toContain(process.execPath);
      const line = [handler?.command, ...(handler?.args ?? [])].join(' ');
      const said = await agent.run(['-c', line], { stdin: JSON.stringify(payload), cwd, program: '/bin/sh' });
      expect(said).toMatchObject({ code: 0, err: '' });
      return said.out;
    },
    async clone(agent) {
      const place = join(root, `clone-${agent.uid}`);
      await cli(asRoot, 'task', 'start', 'demo-split-bill', place, '--home', home.root);
      await asRoot.run([
        '-e',
        `require('child_process').execFileSync('chown', ['-R', '${agent.uid}', '${place}'])`,
      ]);
      return place;
    },
  };
}
