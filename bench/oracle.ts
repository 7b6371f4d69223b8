/**
 * What a grade costs beside the bare commands it runs, grades a minute, and 1,000 requests from 20 hosts at once.
 * Buckets are off: in use, an answer waits for the next edge on top of this.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { oracleLayout } from '../oracle/home.ts';
import { startOracle } from '../oracle/main.ts';
import { openOracle } from '../oracle/oracle.ts';
import type { Phase, Runner } from '../oracle/runner/runner.ts';
import { createToken } from '../oracle/service/tokens.ts';
import { taskAdd } from '../oracle/tasks/add.ts';
import { taskCheck } from '../oracle/tasks/check.ts';
import type { TaskRow } from '../oracle/tasks/rows.ts';
import { loadTask } from '../oracle/tasks/store.ts';
import { sha256 } from '../schemas/hash.ts';

const DEMO = new URL('../examples/demo/', import.meta.url).pathname;
const HIDDEN = 'node --test test/bill-rest.test.js';
const dir = mkdtempSync(join(tmpdir(), 'flipstream-bench-oracle-'));
const logger = pino({ level: 'silent' });
const log = { publish: async () => {} };
const repository = makeRepository();

function makeRepository(): string {
  const repo = join(dir, 'repo');
  cpSync(join(DEMO, 'repo'), repo, { recursive: true });
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repo, env });
  git('init', '--quiet');
  git('add', '--all');
  git(
    '-c',
    'user.name=bench',
    '-c',
    'user.email=bench@example.invalid',
    'commit',
    '--quiet',
    '--message',
    'base',
  );
  return repo;
}

function taskDirectory(): string {
  const task: unknown = JSON.parse(readFileSync(join(DEMO, 'task.json'), 'utf8'));
  const place = join(dir, 'task');
  cpSync(join(DEMO, 'hidden'), join(place, 'hidden'), { recursive: true });
  const caps = { mirror: repository, max_attempts: 20, daily_cap: 100_000 };
  const plain = { framework: null, reference: null, suite: 'node --test', hidden: [HIDDEN] };
  writeFileSync(join(place, 'task.json'), JSON.stringify(Object.assign({}, task, plain, caps)));
  return place;
}

function quantile(values: number[], q: number): number {
  return [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? 0;
}

const ms = (value: number) => `${value.toFixed(1)} ms`;

async function grade(
  url: string,
  token: string,
  row: TaskRow,
  session: string,
  diff: Buffer,
): Promise<number> {
  const started = performance.now();
  const answer = await fetch(`${url}/v1/grade`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      request_id: `${session}-${started}`,
      session_id: session,
      chain_id: 'bench',
      head: '0'.repeat(64),
      task_id: row.task_id,
      base_commit: row.base_commit,
      root_commit: row.root_commit,
      diff: diff.toString('base64'),
      diff_hash: sha256(diff),
      deadline_ms: 600_000,
    }),
  });
  const code = (await answer.text()).trim();
  if (code !== 'PASS') throw new Error(`expected PASS, got ${code}`);
  return performance.now() - started;
}

/** The fix with a comment that no other request has, so that nothing comes from the cache. */
function uniqueFix(serial: number): Buffer {
  const fix = readFileSync(join(DEMO, 'fix.patch'), 'utf8');
  return Buffer.from(fix.replace('cents % people;', `cents % people; // ${serial}`));
}

async function overhead(): Promise<void> {
  const oracle = openOracle({ home: oracleLayout(join(dir, 'one')) });
  const row = await taskAdd(oracle, taskDirectory());
  const task = loadTask(oracle, row.task_id);
  if (!task) throw new Error('the task is not there');
  const { definition, hidden, mirror } = task;
  const bare: number[] = [];
  const whole: number[] = [];
  const tree = join(dir, 'bare');
  cpSync(repository, tree, { recursive: true });
  cpSync(join(DEMO, 'hidden'), tree, { recursive: true });
  for (let at = 0; at < 10; at++) {
    const before = performance.now();
    for (const command of ['node --test test/bill.test.js', HIDDEN])
      spawnSync('/bin/sh', ['-c', command], { cwd: tree });
    const between = performance.now();
    await oracle.runner.run({ run_id: `${at}`, definition, hidden, mirror, diff: uniqueFix(at) });
    bare.push(between - before);
    whole.push(performance.now() - between);
  }
  const [a, b] = [quantile(bare, 0.5), quantile(whole, 0.5)];
  console.log(
    `process runner, median of 10: ${ms(b)}; its two commands alone ${ms(a)}; ratio ${(b / a).toFixed(2)}`,
  );
  oracle.close();
}

async function throughput(concurrency: number): Promise<void> {
  const home = oracleLayout(join(dir, `rate-${concurrency}`));
  const oracle = openOracle({ home });
  await taskAdd(oracle, taskDirectory());
  const { row } = await taskCheck(oracle, 'demo-split-bill');
  const token = createToken(oracle, 'bench');
  const service = await startOracle({ home, log, logger, concurrency, bucketMs: 1 });
  const started = performance.now();
  const count = 12;
  const asked = Array.from({ length: count }, (_, at) =>
    grade(service.url, token, row, `s${at}`, uniqueFix(at)),
  );
  await Promise.all(asked);
  const rate = (count * 60_000) / (performance.now() - started);
  console.log(`grades a minute, process runner, concurrency ${concurrency}: ${rate.toFixed(0)}`);
  await service.stop();
  oracle.close();
}

async function manyHosts(): Promise<void> {
  const ended = {
    signal: null,
    timed_out: false,
    spawn_error: null,
    duration_ms: 0,
    output: '',
    output_bytes: 0,
  };
  const phase = (name: string, exit: number): Phase => ({ name, exit, ...ended });
  const runner: Runner = {
    kind: 'process',
    version: 'none',
    run: async ({ diff }) => ({
      ...{ refused: null, dropped: [], low_disk: false, fault: null },
      suite: phase('suite', 0),
      hidden: [phase('hidden', diff ? 0 : 1)],
    }),
    sweep: async () => {},
  };
  const home = oracleLayout(join(dir, 'many'));
  const oracle = openOracle({ home, runner });
  await taskAdd(oracle, taskDirectory());
  const { row } = await taskCheck(oracle, 'demo-split-bill');
  const tokens = Array.from({ length: 20 }, (_, host) => createToken(oracle, `host-${host}`));
  const service = await startOracle({ home, log, logger, runner, bucketMs: 1, queueLimit: 2000 });
  const started = performance.now();
  const times = await Promise.all(
    Array.from({ length: 1000 }, (_, at) =>
      grade(service.url, tokens[at % 20] ?? '', row, `s${at}`, uniqueFix(at)),
    ),
  );
  const all = performance.now() - started;
  console.log(
    `1,000 requests of 20 hosts at once, runner that runs nothing: all answered PASS in ${ms(all)}, p50 ${ms(quantile(times, 0.5))}, p99 ${ms(quantile(times, 0.99))}; resident ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`,
  );
  await service.stop();
  oracle.close();
}

try {
  await overhead();
  await throughput(1);
  await throughput(2);
  await manyHosts();
} finally {
  rmSync(dir, { recursive: true, force: true });
}
