import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { define, TaskFile } from '../tasks/definition.ts';
import { makeMirror } from '../tasks/mirror.ts';
import { readHidden } from '../tasks/tests-hash.ts';
import { DEMO, demoPatch, makeRepository, runGit, temporaryDirectory } from '../testing.ts';
import { outcomeOf } from './outcome.ts';
import { processRunner } from './process.ts';
import type { RunJob } from './runner.ts';
import { runPhase } from './spawn.ts';

interface Setup {
  files?: Record<string, string>;
  hidden?: Record<string, string>;
  suite?: TaskFile['suite'];
  command?: TaskFile['suite'];
  diff?: string | Buffer;
  timeout_s?: number;
}

async function setUp(setup: Setup, minFreeBytes?: number) {
  const dir = temporaryDirectory();
  const prefix = join(dir, 'run-');
  const runner = processRunner({ prefix, ...(minFreeBytes === undefined ? {} : { minFreeBytes }) });
  const source = makeRepository(setup.files ?? { 'src/a.sh': 'exit 1\n', 'src/b.txt': 'b\n' });
  const mirror = join(dir, 'mirror.git');
  const repository = await makeMirror(source, 'HEAD', mirror);
  const file = TaskFile.parse({
    task_id: 't',
    mirror: source,
    base_commit: 'HEAD',
    suite: setup.suite ?? 'true',
    hidden: [setup.command ?? 'sh src/a.sh'],
    allowlist: ['src/**'],
    timeout_s: setup.timeout_s ?? 20,
  });
  const hidden = Object.entries(setup.hidden ?? { 'h.txt': 'h' }).map(([path, content]) => ({
    path,
    executable: false,
    content: Buffer.from(content),
  }));
  const job: RunJob = {
    run_id: 'r',
    definition: define(file, repository, '0'.repeat(32)),
    hidden,
    mirror,
    diff: setup.diff === undefined ? null : Buffer.from(setup.diff),
  };
  const left = () => readdirSync(dirname(prefix)).filter((name) => name.startsWith('run-'));
  return { runner, job, left, source, mirror, prefix };
}

const edit = (path: string, from: string, to: string) =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
const CODE = (line: string) => edit('src/a.sh', 'exit 1', line);

async function graded(setup: Setup) {
  const { runner, job, left } = await setUp(setup);
  const result = await runner.run(job);
  expect(left()).toEqual([]);
  return { result, ...outcomeOf(result) };
}

test('the demo\u2019s task: base fails, the wrong fix fails, the right one passes', async () => {
  const { runner, job } = await setUp({
    suite: 'node --test',
    command: 'node --test test/bill-rest.test.js',
  });
  const repository = makeRepository();
  await makeMirror(repository, 'HEAD', job.mirror);
  job.definition.base_commit = runGit(repository, 'rev-parse', 'HEAD').trim();
  job.hidden = readHidden(join(DEMO, 'hidden'));
  const codes = [];
  for (const diff of [null, demoPatch('wrong'), demoPatch('fix')])
    codes.push(outcomeOf(await runner.run({ ...job, diff })));
  expect(codes.map(({ code }) => code)).toEqual(['FAIL', 'FAIL', 'PASS']);
});

test('O1 what the diff may not change is not applied, what it may is', async () => {
  const files = { 'src/a.sh': 'exit 1\n', 'tests/t.sh': 'test "$(sh src/a.sh)" = ok\n' };
  const cheat = edit('tests/t.sh', 'test "$(sh src/a.sh)" = ok', 'true');
  const dishonest = await graded({ files, command: 'sh tests/t.sh', diff: cheat });
  expect(dishonest).toMatchObject({
    code: 'FAIL',
    result: { dropped: [{ why: 'denied', paths: ['tests/t.sh'] }] },
  });
  const honest = await graded({ files, command: 'sh tests/t.sh', diff: cheat + CODE('echo ok') });
  expect(honest.code).toBe('PASS');
});

test('hidden files come from the store, over whatever the diff put there, and only for the hidden tests', async () => {
  const planted = `diff --git a/src/h.sh b/src/h.sh\nnew file mode 100644\n--- /dev/null\n+++ b/src/h.sh\n@@ -0,0 +1 @@\n+exit 0\n`;
  const hidden = { 'src/h.sh': 'exit 7\n' };
  const { code, result } = await graded({
    hidden,
    command: 'sh src/h.sh',
    suite: 'sh src/h.sh',
    diff: planted,
  });
  expect(code).toBe('FAIL');
  expect([result.suite?.exit, result.hidden[0]?.exit]).toEqual([0, 7]);
});

test('the environment is appendix B\u2019s and nothing else; each command has its own tree, home and temporary directory', async () => {
  const show =
    'env | cut -d= -f1 | sort | tr "\\n" " "; echo $TZ $LC_ALL $PYTHONHASHSEED; touch left "$HOME/left" "$TMPDIR/left"';
  const { result } = await graded({ suite: show, command: `ls . "$HOME" "$TMPDIR"; ${show}` });
  expect(result.suite?.output).toMatch(
    /^HOME LC_ALL (OLDPWD )?PATH PWD PYTHONHASHSEED (SHLVL )?SOURCE_DATE_EPOCH TMPDIR TZ (_ )?UTC C.UTF-8 0\n$/,
  );
  expect(result.hidden[0]?.output).not.toContain('left');
  expect(result.suite?.exit).toBe(0);
});

test('O4 in the run nothing newer than the base is reachable, and no remote, ref or reflog is there', async () => {
  const look =
    'git for-each-ref; git remote; git stash list; ls .git; git cat-file --batch-all-objects --batch-check | wc -l; test ! -e .git/logs';
  const { runner, job, source } = await setUp({ suite: look });
  const result = await runner.run(job);
  const objects = runGit(source, 'rev-list', '--objects', 'HEAD').trim().split('\n').length;
  const lines = (result.suite?.output ?? '').trim().split('\n');
  expect(Number(lines.at(-1))).toBe(objects);
  expect(lines).not.toContain('origin');
  expect(lines[0]).not.toContain('refs/');
  expect(result.suite?.exit).toBe(0);
});

test('O8 a hang is FAIL, and its whole process group is gone', async () => {
  const { code, reason, result } = await graded({ diff: CODE('sleep 300 & sleep 300'), timeout_s: 0.5 });
  expect({ code, reason }).toEqual({ code: 'FAIL', reason: 'hidden 1 exceeded its time' });
  expect(result.hidden[0]?.timed_out).toBe(true);
});

test('a process that outlives its command is gone, also one that left the group', async () => {
  const marker = join(temporaryDirectory(), 'pid');
  await graded({ diff: CODE(`(setsid sleep 300 & echo $! > ${marker}; pgrep -n sleep >/dev/null); exit 0`) });
  const pid = Number(readFileSync(marker, 'utf8'));
  const state = () =>
    existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : 'gone Z';
  if (process.platform === 'linux') await vi.waitFor(() => expect(state()).toMatch(/ Z/), 10_000);
});

test('output is bounded and counted', async () => {
  const { result } = await graded({ diff: CODE('head -c 3000000 /dev/zero | tr "\\0" x; exit 1') });
  expect(result.hidden[0]?.output_bytes).toBe(3_000_000);
  expect(result.hidden[0]?.output.length).toBe(256 * 1024);
});

test.each([
  ['that is no diff', 'rubbish\n', /cannot be parsed/],
  ['that does not apply', CODE('exit 0').replace('-exit 1', '-exit 2'), /does not apply/],
  ['of a file that is not there', edit('src/none', 'x', 'y'), /does not apply/],
])('a diff %s is FAIL with the reason logged', async (_, diff, why) => {
  const { code, reason, result } = await graded({ diff });
  expect(code).toBe('FAIL');
  expect(reason).toMatch(why);
  expect(result.suite).toBeNull();
});

test('O5 a mirror that cannot be read or a full disk is ERROR', async () => {
  const one = await setUp({ diff: CODE('exit 0') });
  rmSync(one.mirror, { recursive: true });
  expect(outcomeOf(await one.runner.run(one.job))).toMatchObject({
    code: 'ERROR',
    reason: expect.stringMatching(/^mirror_unreadable/),
  });
  const two = await setUp({ diff: CODE('exit 0') }, Number.MAX_SAFE_INTEGER);
  expect(outcomeOf(await two.runner.run(two.job))).toMatchObject({
    code: 'ERROR',
    reason: expect.stringMatching(/^disk_full/),
  });
});

test('an aborted run rejects, and leaves nothing', async () => {
  const marker = join(temporaryDirectory(), 'begun');
  const { runner, job, left } = await setUp({ suite: `touch ${marker}; sleep 300` });
  const aborter = new AbortController();
  const run = runner.run({ ...job, signal: aborter.signal });
  const rejected = expect(run).rejects.toThrow();
  await vi.waitFor(() => expect(existsSync(marker)).toBe(true), 10_000);
  aborter.abort();
  await rejected;
  expect(left()).toEqual([]);
});

test('a start sweeps what a killed service left, its processes too, and leaves running ones alone', async () => {
  const { runner, left, prefix } = await setUp({});
  const dead = `${prefix}${spawnSync('true').pid}-aaaaaa`;
  const alive = `${prefix}${process.pid}-bbbbbb`;
  mkdirSync(dead);
  mkdirSync(alive);
  const stray = spawn('sleep', ['300'], { cwd: dead, detached: true, stdio: 'ignore' });
  const gone = once(stray, 'exit');
  await runner.sweep();
  if (process.platform === 'linux') expect(await gone).toEqual([null, 'SIGKILL']);
  else stray.kill();
  expect(left()).toEqual([basename(alive)]);
});

test('a command that begins when its run was stopped is ended at once', async () => {
  const options = { cwd: '/', env: {}, timeoutMs: 10_000, reports: false, signal: AbortSignal.abort() };
  const { phase } = await runPhase({ name: 'late', argv: ['/bin/sh', '-c', 'sleep 60'], ...options });
  expect(phase).toMatchObject({ exit: null, signal: 'SIGKILL', timed_out: false });
});
