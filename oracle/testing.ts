/** What the oracle's tests share: a home, a small repository with a bug, a log that remembers, a clock that is held. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Log, Outgoing } from '../log/log.ts';
import type { GradeRequest } from '../schemas/grade.ts';
import { sha256 } from '../schemas/hash.ts';
import { oracleLayout } from './home.ts';
import { type OpenOptions, type Oracle, openOracle } from './oracle.ts';
import type { Phase, RunJob, Runner, RunResult } from './runner/runner.ts';
import type { Timers } from './service/timers.ts';

export const DEMO = new URL('../examples/demo/', import.meta.url).pathname;
export const demoPatch = (name: 'fix' | 'wrong') => readFileSync(join(DEMO, `${name}.patch`));

/** A diff with two sections for one long file: for each hunk of the second, git goes through what the first has made. */
export function slowToApply(): Buffer {
  const [lines, hunks] = [1_000_000, 80_000];
  const head = 'diff --git a/src/big.txt b/src/big.txt\n';
  const added = `new file mode 100644\n--- /dev/null\n+++ b/src/big.txt\n@@ -0,0 +1,${lines} @@\n${'+a\n'.repeat(lines)}`;
  const hunk = (at: number) => `@@ -${at},3 +${at},3 @@\n a\n-a\n+b\n a\n`;
  const edited = Array.from({ length: hunks }, (_, n) => hunk(4 * n + 2)).join('');
  return Buffer.from(`${head}${added}${head}--- a/src/big.txt\n+++ b/src/big.txt\n${edited}`);
}

export function temporaryDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'flipstream-oracle-test-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}

export function runGit(cwd: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH, HOME: devNull, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' };
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...who, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }).toString();
}

function writeFiles(dir: string, files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
}

/** A repository with one commit of the given files, or of the demo's. */
export function makeRepository(files?: Record<string, string>): string {
  const dir = temporaryDirectory();
  if (files) writeFiles(dir, files);
  else cpSync(join(DEMO, 'repo'), dir, { recursive: true });
  runGit(dir, 'init', '--quiet');
  runGit(dir, 'add', '--all');
  runGit(dir, 'commit', '--quiet', '--message', 'base');
  return dir;
}

/** Commands told by their exit codes, whatever the demo's own task makes of its tests. */
const PLAIN = {
  ...{ framework: null, reference: null, suite: 'node --test' },
  hidden: ['node --test test/bill-rest.test.js'],
};

/** A directory for `taskAdd`, the demo's task but for what is given. */
export function taskDirectory(
  mirror: string,
  change: Record<string, unknown> = {},
  hidden?: Record<string, string>,
): string {
  const dir = temporaryDirectory();
  const task: unknown = JSON.parse(readFileSync(join(DEMO, 'task.json'), 'utf8'));
  writeFileSync(join(dir, 'task.json'), JSON.stringify(Object.assign({}, task, PLAIN, { mirror }, change)));
  if (hidden) writeFiles(join(dir, 'hidden'), hidden);
  else cpSync(join(DEMO, 'hidden'), join(dir, 'hidden'), { recursive: true });
  return dir;
}

export function makeOracle(options: Omit<OpenOptions, 'home'> & { root?: string } = {}): Oracle {
  const { root = join(temporaryDirectory(), 'home'), ...rest } = options;
  const oracle = openOracle({ ...rest, home: oracleLayout(root) });
  onTestFinished(() => {
    try {
      oracle.close();
    } catch {
      // The test has closed it.
    }
  });
  return oracle;
}

export interface TestLog extends Pick<Log, 'publish'> {
  records: Outgoing[];
  /** While true, nothing is taken. */
  down: boolean;
}

export function testLog(): TestLog {
  const log: TestLog = {
    records: [],
    down: false,
    async publish(records) {
      if (log.down) throw new Error('the log is down');
      log.records.push(...records);
    },
  };
  return log;
}

export interface FakeTimers extends Timers {
  /** Moves the clock, letting everything that falls due run in order, promises included. */
  advance(ms: number): Promise<void>;
}

export function fakeTimers(start = Date.UTC(2026, 0, 1)): FakeTimers {
  let now = start;
  let alarms: { when: number; run: () => void }[] = [];
  return {
    now: () => now,
    at(when, run) {
      const alarm = { when, run };
      alarms.push(alarm);
      return () => {
        alarms = alarms.filter((other) => other !== alarm);
      };
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = alarms.filter(({ when }) => when <= end).sort((a, b) => a.when - b.when);
        if (!next) break;
        alarms = alarms.filter((other) => other !== next);
        now = Math.max(now, next.when);
        next.run();
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = end;
    },
  };
}

export function phase(name: string, exit: number | null, more: Partial<Phase> = {}): Phase {
  const rest = {
    signal: null,
    timed_out: false,
    spawn_error: null,
    duration_ms: 1,
    output: '',
    output_bytes: 0,
  };
  return { name, exit, ...rest, ...more };
}

export function runResult(suite: number, hidden: number, more: Partial<RunResult> = {}): RunResult {
  const phases = { suite: phase('suite', suite), hidden: [phase('hidden 1', hidden)] };
  return { refused: null, dropped: [], low_disk: false, fault: null, ...phases, ...more };
}

export interface FakeRunner extends Runner {
  jobs: RunJob[];
}

/** A runner that runs nothing: `judge` says how a job ends; without one, diffs that hold `good` pass. */
export function fakeRunner(judge: (job: RunJob) => RunResult | Promise<RunResult> = byContent): FakeRunner {
  const jobs: RunJob[] = [];
  return {
    jobs,
    kind: 'process',
    version: 'fake/1',
    async run(job) {
      jobs.push(job);
      return judge(job);
    },
    async sweep() {},
  };
}

export function byContent(job: RunJob): RunResult {
  return runResult(0, job.diff?.includes('good') ? 0 : 1);
}

let serial = 0;

/** A request for a grade of the demo's task. */
export function gradeRequest(
  task: { task_id: string; base_commit: string; root_commit: string },
  diff: string | Buffer,
  change: Partial<GradeRequest> = {},
): GradeRequest {
  const bytes = Buffer.from(diff);
  const { task_id, base_commit, root_commit } = task;
  return {
    ...{ task_id, base_commit, root_commit },
    request_id: `request-${serial++}`,
    session_id: 'session',
    chain_id: 'chain',
    head: '0'.repeat(64),
    diff: bytes.toString('base64'),
    diff_hash: sha256(bytes),
    deadline_ms: 600_000,
    ...change,
  };
}
