/**
 * What a tool call pays for the hook as a command: its whole process beside a bare `node -e 0` of the same Node, in
 * turn, one at a time and 32 at once, with everything behind it down. `node bench/hook.ts [runs]`
 */

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hookArguments } from '../cli/init/registration.ts';
import { shellLine } from '../cli/init/shell-line.ts';

const HOOK = fileURLToPath(new URL('../plugin/dist/hook.cjs', import.meta.url));
const RUNS = Number(process.argv[2] ?? 200);
const root = mkdtempSync(join(tmpdir(), 'flipstream-bench-'));
const home = join(root, 'home');
mkdirSync(home);
const env = { PATH: process.env.PATH, HOME: root, FLIPSTREAM_HOME: home };

const payload = (event: string, fields: object) =>
  JSON.stringify({
    session_id: 'bench',
    transcript_path: '/t',
    cwd: root,
    prompt_id: 'p',
    permission_mode: 'default',
    hook_event_name: event,
    ...fields,
  });
const tool = payload('PostToolUse', {
  tool_name: 'Bash',
  tool_use_id: 'toolu_1',
  tool_input: { command: 'npm test -- --run src', description: 'Run the tests' },
  tool_response: {
    stdout: 'ok src/a.test.ts (12 tests) 34ms\n'.repeat(30),
    stderr: '',
    interrupted: false,
    isImage: false,
  },
  duration_ms: 812,
});

/** One commit, and a task's configuration, as a session begins in. */
function makeRepository(dir: string): string {
  mkdirSync(join(dir, '.flipstream'), { recursive: true });
  writeFileSync(join(dir, '.flipstream', 'config.json'), '{"task_id":"bench"}');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=b', '-c', 'user.email=b@example.invalid', ...args], { cwd: dir });
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'base');
  return dir;
}

type Command = [program: string, ...args: string[]];

function once([program, ...args]: Command, input: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(program, args, { env, stdio: ['pipe', 'ignore', 'ignore'] });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(performance.now() - started) : reject(new Error(`exit ${code}`)),
    );
  });
}

const BARE: Command = [process.execPath, '-e', '0'];
const OURS: Command = [process.execPath, ...hookArguments(HOOK, 'settings')];
const REGISTERED: Command = ['/bin/sh', '-c', shellLine(OURS)];

/** Both in turn, so that whatever else the machine does falls on both. */
async function compare(name: string, input: string, atOnce: number, ours = OURS): Promise<void> {
  const times: { bare: number[]; hook: number[] } = { bare: [], hook: [] };
  await once(ours, input);
  for (let done = 0; done < RUNS; done += atOnce) {
    for (const [kind, command] of [
      ['bare', BARE],
      ['hook', ours],
    ] as const)
      times[kind].push(...(await Promise.all(Array.from({ length: atOnce }, () => once(command, input)))));
  }
  const at = (list: number[], part: number) =>
    [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))] ?? 0;
  const row = [0.5, 0.99].map((part) => {
    const [bare, hook] = [at(times.bare, part), at(times.hook, part)];
    return `p${part * 100} ${hook.toFixed(1)} ms, bare ${bare.toFixed(1)} ms, x${(hook / bare).toFixed(2)}, added ${(hook - bare).toFixed(1)} ms`;
  });
  console.log(`${name}, ${atOnce} at once: ${row.join(' | ')}`);
}

await compare('tool call, nothing behind it', tool, 1);
await compare('tool call, nothing behind it', tool, 32);
await compare('tool call, as registered: through a shell', tool, 1, REGISTERED);

// A collector that takes connections and never answers: a tool call must not notice.
const dead = createServer(() => {});
await new Promise<void>((resolve) => dead.listen(join(home, 'collector.sock'), resolve));
await compare('tool call, a collector that hangs', tool, 1);
await compare('session end, a collector that hangs', payload('SessionEnd', { reason: 'other' }), 1);
dead.close();
await compare(
  'message piece',
  payload('MessageDisplay', {
    message_id: 'm',
    turn_id: 't',
    index: 0,
    final: true,
    delta: 'I will look at the failing test first.\n',
  }),
  1,
);
await compare('session start (outside a repository)', payload('SessionStart', { source: 'startup' }), 1);
const repository = makeRepository(join(root, 'repository'));
await compare(
  'session start (in a repository with a task: git runs)',
  payload('SessionStart', { source: 'startup', cwd: repository }),
  1,
);
console.log(`entries in the spool: ${readdirSync(join(home, 'spool', 'new')).length}`);
rmSync(root, { recursive: true, force: true });
