/** The oracle as a user of its own on the agent's machine, behind a unix socket: what each of the two can reach. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { runGit } from '../../oracle/testing.ts';

const [ORACLE, AGENT] = [61_001, 61_002];
const ROOT = new URL('../../', import.meta.url).pathname;
const CLI = join(ROOT, 'cli/main.ts');
const missing = process.getuid?.() === 0 ? null : 'two users need root';
if (missing && process.env.CI) throw new Error(`CI may not skip this: ${missing}`);
if (missing) process.stderr.write(`oracle-two-users: skipped, ${missing}\n`);

const Rows = z.array(z.object({ task_id: z.string(), base_commit: z.string(), root_commit: z.string() }));

function place() {
  const root = mkdtempSync(join(tmpdir(), 'flipstream-two-users-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  chmodSync(root, 0o755);
  const dirs = {
    oracle: join(root, 'oracle'),
    run: join(root, 'run'),
    agent: join(root, 'agent'),
    task: join(root, 'task'),
  };
  cpSync(join(ROOT, 'examples/demo'), dirs.task, { recursive: true });
  const repository = join(dirs.task, 'repo');
  runGit(repository, 'init', '--quiet');
  runGit(repository, 'add', '--all');
  runGit(repository, 'commit', '--quiet', '--message', 'base');
  for (const [dir, uid, mode] of [
    [dirs.oracle, ORACLE, 0o700],
    [dirs.run, ORACLE, 0o755],
    [dirs.agent, AGENT, 0o700],
  ] as const) {
    mkdirSync(dir);
    chmodSync(dir, mode);
    chownSync(dir, uid, uid);
  }
  return dirs;
}

/** What a user of that id gets to see: another environment, another home. */
function as(uid: number, home: string, argv: string[]): string {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    FLIPSTREAM_HOME: join(home, 'host'),
    FLIPSTREAM_ORACLE_HOME: join(home, 'home'),
  };
  return execFileSync(process.execPath, argv, {
    uid,
    gid: uid,
    env,
    cwd: '/',
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Run by the agent's user: what it can open of the oracle's, then a grade, then the verdict in a log of its own. */
const AGENT_PROGRAM = `
import { readdirSync, readFileSync } from 'node:fs';
const { oracleAt } = await import('${ROOT}producers/collector/grader.ts');
const { startVerdictFeed } = await import('${ROOT}producers/collector/verdict-feed.ts');
const { createHash } = await import('node:crypto');
const [, , url, token, task, patch, home, closed] = process.argv;
const denied = [];
for (const path of [closed, closed + '/keys/process.key', closed + '/keys/store.key', closed + '/oracle.db', closed + '/log'])
  for (const open of [readdirSync, readFileSync])
    try { open(path); } catch (error) { denied.push(error.code); }
const diff = readFileSync(patch);
const request = {
  ...JSON.parse(task), request_id: 'q1', session_id: 's1', chain_id: 'c1', head: '0'.repeat(64),
  diff: diff.toString('base64'), diff_hash: createHash('sha256').update(diff).digest('hex'), deadline_ms: 120000,
};
const { answer } = await oracleAt({ url, token }, console.error)(request, 120000);
const records = [];
const feed = startVerdictFeed({ home: { feed: home + '/feed' }, oracle: { url, token }, warn: console.error, everyMs: 50,
  log: { async publish(batch) { records.push(...batch); } } });
while (!records.some(({ value }) => value.request_id === 'q1')) await new Promise((resolve) => setTimeout(resolve, 20));
await feed.stop();
const verdict = records.find(({ value }) => value.request_id === 'q1').value;
console.log(JSON.stringify({ denied: [...new Set(denied)], answer, verdict: [verdict.verdict, verdict.placement, verdict.requester] }));
`;

test.skipIf(missing !== null)(
  'graded over the socket, and nothing of the oracle\u2019s can be opened',
  async () => {
    const { oracle, run, agent, task } = place();
    const cli = (...argv: string[]) => as(ORACLE, oracle, [CLI, ...argv]);
    cli('oracle', 'task', 'add', task);
    expect(cli('oracle', 'task', 'check', 'demo-split-bill')).toContain('is ready');
    const token = cli('oracle', 'token', 'laptop').trim();
    const [row] = Rows.parse(JSON.parse(cli('oracle', 'task', 'list', '--json')));
    const socket = join(run, 'oracle.sock');
    const service: ChildProcess = spawn(
      process.execPath,
      [CLI, 'oracle', 'serve', '--listen', `unix:${socket}`, '--bucket-ms', '50'],
      {
        ...{ uid: ORACLE, gid: ORACLE, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] },
        env: {
          PATH: process.env.PATH,
          HOME: oracle,
          FLIPSTREAM_HOME: join(oracle, 'host'),
          FLIPSTREAM_ORACLE_HOME: join(oracle, 'home'),
        },
      },
    );
    onTestFinished(() => void service.kill('SIGKILL'));
    if (service.stdout) await once(service.stdout, 'data');
    const program = join(agent, 'agent.mts');
    writeFileSync(program, AGENT_PROGRAM);
    chmodSync(program, 0o644);
    const patch = join(task, 'fix.patch');
    const said = as(AGENT, agent, [
      program,
      `unix:${socket}`,
      token,
      JSON.stringify(row),
      patch,
      agent,
      join(oracle, 'home'),
    ]);
    expect(JSON.parse(said)).toEqual({
      denied: ['EACCES'],
      answer: 'PASS',
      verdict: ['PASS', 'same_host', 'laptop'],
    });
  },
);
