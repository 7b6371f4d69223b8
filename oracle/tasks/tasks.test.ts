import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rejectionOf } from '../../schemas/signature.ts';
import { findVerdict, verdictsOf } from '../keys/chain.ts';
import { exportKeyRing } from '../keys/ring.ts';
import { drainOutbox } from '../outbox.ts';
import { listRuns } from '../private-log.ts';
import {
  fakeRunner,
  makeOracle,
  makeRepository,
  phase,
  runGit,
  runResult,
  taskDirectory,
  testLog,
} from '../testing.ts';
import { taskAdd } from './add.ts';
import { taskCheck } from './check.ts';
import { readyTask, taskRow } from './rows.ts';
import { knownTask, loadTask, storeTask } from './store.ts';

const TASK = 'demo-split-bill';
const AUTHOR = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 't'],
    [`GIT_${who}_EMAIL`, 't@example.invalid'],
  ]),
);
const HIDDEN = { 'test/h.js': 'secret', 'data/x.json': '{}' };

async function added(runner = fakeRunner(), change = {}) {
  const oracle = makeOracle({ runner });
  const repository = makeRepository();
  const row = await taskAdd(oracle, taskDirectory(repository, change, HIDDEN));
  return { oracle, row, repository };
}

test('a task is added unchecked, checked twice, and its baseline signed for the process runner only', async () => {
  const runner = fakeRunner();
  const { oracle } = await added(runner);
  expect(readyTask(oracle, TASK)).toBeNull();
  const { row } = await taskCheck(oracle, TASK);
  expect(row).toMatchObject({ status: 'ready', reason: null });
  expect(runner.jobs).toHaveLength(2);
  const baseline = findVerdict(oracle.db, row.baseline_id ?? '');
  expect(baseline).toMatchObject({
    mode: 'baseline',
    verdict: 'FAIL',
    attempt: 0,
    session_id: null,
    tests_hash: row.tests_hash,
  });
  const ring = exportKeyRing(oracle.home, 'process');
  expect(ring.keys[0]?.runners).toEqual(['process']);
  if (!baseline) throw new Error('no baseline');
  expect(rejectionOf(baseline, ring)).toBeNull();
  expect(rejectionOf({ ...baseline, verdict: 'PASS' }, ring)).toBe('bad_signature');
  expect(listRuns(oracle).map((run) => run.kind)).toEqual(['baseline', 'baseline']);
  const log = testLog();
  await drainOutbox(oracle.db, log);
  expect(log.records.map(({ topic, key }) => [topic, key])).toEqual([
    ['tasks', TASK],
    ['tasks', TASK],
  ]);
  expect(log.records.at(-1)?.value).toMatchObject({ status: 'ready', split: 'train', family: 'demo' });
});

const BAD: [string, ReturnType<typeof runResult>[], RegExp][] = [
  ['the hidden tests pass at the base', [runResult(0, 0), runResult(0, 0)], /pass at the base commit/],
  ['the suite is broken', [runResult(1, 1), runResult(1, 1)], /suite does not pass/],
  ['O6 flaky: two baselines disagree', [runResult(0, 1), runResult(0, 0)], /disagree/],
  ['O6 flaky: the suite passes once', [runResult(0, 1), runResult(1, 1)], /disagree/],
  [
    'the hidden tests hang',
    [0, 1].map(() => runResult(0, 1, { hidden: [phase('hidden 1', null, { timed_out: true })] })),
    /exceed their time/,
  ],
  ['the hidden tests\u2019 program is missing', [runResult(0, 127), runResult(0, 127)], /do not run/],
];

test.each(BAD)('quarantined when %s', async (_, results, reason) => {
  const left = [...results];
  const { oracle } = await added(fakeRunner(() => left.shift() ?? runResult(0, 0)));
  const { row } = await taskCheck(oracle, TASK);
  expect(row.status).toBe('quarantined');
  expect(row.reason).toMatch(reason);
  expect(readyTask(oracle, TASK)).toBeNull();
  expect(verdictsOf(oracle.db, oracle.key.key_id)).toEqual([]);
});

test('O5 a baseline that the machine failed quarantines nothing', async () => {
  const fault = { class: 'disk_full', message: 'no space' } as const;
  const { oracle } = await added(fakeRunner(() => runResult(0, 1, { suite: null, hidden: [], fault })));
  await expect(taskCheck(oracle, TASK)).rejects.toMatchObject({ code: 'baseline_error', kind: 'retryable' });
  expect(taskRow(oracle.db, TASK)).toMatchObject({ status: 'unchecked', reason: null });
});

test('tests_hash is known before any run, and changes with every file and setting', async () => {
  const { oracle, row, repository } = await added();
  const seen = new Set([row.tests_hash]);
  const again = async (change: Record<string, unknown>, hidden: Record<string, string>) =>
    (await taskAdd(oracle, taskDirectory(repository, change, hidden))).tests_hash;
  expect(await again({}, HIDDEN)).toBe(row.tests_hash);
  const changes: [Record<string, unknown>, Record<string, string>][] = [
    [{}, { ...HIDDEN, 'test/h.js': 'secreu' }],
    [{}, { ...HIDDEN, 'test/new.js': '' }],
    [{}, { 'test/h.js': 'secret' }],
    [{}, { 'test/H.js': 'secret', 'data/x.json': '{}' }],
    [{ suite: 'true' }, HIDDEN],
    [{ hidden: ['node --test x.js'] }, HIDDEN],
    [{ allowlist: ['src/*'] }, HIDDEN],
    [{ denylist: ['src/x'] }, HIDDEN],
    [{ timeout_s: 61 }, HIDDEN],
    [{ evidence: 'out_of_process' }, HIDDEN],
  ];
  for (const [change, hidden] of changes) seen.add(await again(change, hidden));
  expect(seen.size).toBe(changes.length + 1);
  runGit(repository, 'commit', '--quiet', '--allow-empty', '--message', 'next');
  seen.add(await again({}, HIDDEN));
  expect(seen.size).toBe(changes.length + 2);
});

test('a task whose stored tests were changed after the check is not graded', async () => {
  const { oracle, row, repository } = await added();
  await taskCheck(oracle, TASK);
  expect(readyTask(oracle, TASK)).not.toBeNull();
  const sealed = join(oracle.home.store, `${TASK}.task`);
  const before = readFileSync(sealed);
  await taskAdd(oracle, taskDirectory(repository, {}, { ...HIDDEN, 'test/h.js': 'easy' }));
  oracle.db.sql.prepare('update tasks set status = ?, tests_hash = ?').run('ready', row.tests_hash);
  expect(readyTask(oracle, TASK)).toBeNull();
  writeFileSync(sealed, before);
  expect(readyTask(oracle, TASK)).not.toBeNull();
  writeFileSync(
    sealed,
    Buffer.concat([before.subarray(0, -1), Buffer.from([before.at(-1) ?? 0]).map((byte) => byte ^ 1)]),
  );
  expect(() => readyTask(oracle, TASK)).toThrow(/altered/);
});

test('O4 the mirror holds the base commit and its ancestors only, whatever the source holds', async () => {
  const repository = makeRepository();
  runGit(repository, 'commit', '--quiet', '--allow-empty', '--message', 'second');
  const base = runGit(repository, 'rev-parse', 'HEAD').trim();
  writeFileSync(join(repository, 'fix.js'), 'the fix');
  runGit(repository, 'add', '.');
  runGit(repository, 'commit', '--quiet', '--message', 'the fix');
  runGit(repository, 'tag', 'v2');
  const oracle = makeOracle({ runner: fakeRunner() });
  await taskAdd(oracle, taskDirectory(repository, { base_commit: base }));
  const mirror = loadTask(oracle, TASK)?.mirror ?? '';
  const objects = (dir: string, ...which: string[]) =>
    runGit(dir, ...which)
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0])
      .sort();
  expect(objects(mirror, 'cat-file', '--batch-all-objects', '--batch-check')).toEqual(
    objects(repository, 'rev-list', '--objects', base),
  );
});

test('of several roots the oldest names the repository', async () => {
  const repository = makeRepository();
  const first = runGit(repository, 'rev-parse', 'HEAD').trim();
  const empty = runGit(repository, 'write-tree').trim();
  const later = runGit(repository, 'commit-tree', '-m', 'other root', empty).trim();
  const older = execFileSync('git', ['commit-tree', '-m', 'oldest root', empty], {
    cwd: repository,
    env: { ...process.env, ...AUTHOR, GIT_COMMITTER_DATE: '2001-01-01T00:00:00Z' },
  });
  const parents = [first, later, older.toString().trim()].flatMap((parent) => ['-p', parent]);
  const merge = runGit(repository, 'commit-tree', '-m', 'merge', ...parents, empty).trim();
  const oracle = makeOracle({ runner: fakeRunner() });
  const row = await taskAdd(oracle, taskDirectory(repository, { base_commit: merge }));
  expect(row.root_commit).toBe(older.toString().trim());
  expect(loadTask(oracle, TASK)?.definition.root_commits).toHaveLength(3);
});

const WRONG: [string, Record<string, unknown>, RegExp][] = [
  ['no allowlist', { allowlist: [] }, /allowlist/],
  ['more than twenty attempts', { max_attempts: 21 }, /max_attempts/],
  ['a field that is none', { alowlist: ['x'] }, /alowlist/],
  ['a name that is a path', { task_id: '../x' }, /task_id/],
  ['a commit that is not there', { base_commit: 'nowhere' }, /nowhere/],
];

test.each(WRONG)('refused: %s', async (_, change, message) => {
  const oracle = makeOracle({ runner: fakeRunner() });
  await expect(taskAdd(oracle, taskDirectory(makeRepository(), change))).rejects.toMatchObject({
    kind: 'usage',
    message: expect.stringMatching(message),
  });
});

const APART = { image: `sha256:${'0'.repeat(64)}`, evidence: 'out_of_process', program: ['node', 'x.js'] };

test('O2 for containers no task is taken that exit codes alone would decide, apart from the code neither', async () => {
  const oracle = makeOracle({ runner: { ...fakeRunner(), kind: 'container' } });
  const add = (change: object) => taskAdd(oracle, taskDirectory(makeRepository(), { ...APART, ...change }));
  await expect(add({ framework: null })).rejects.toThrow(/framework is missing/);
  await add({ framework: 'node:test' });
  await expect(taskCheck(oracle, TASK)).rejects.toMatchObject({ code: 'reference_missing' });
});

test('O2 one that an earlier release took, and found ready, is neither graded nor checked', async () => {
  const oracle = makeOracle({ runner: { ...fakeRunner(), kind: 'container' } });
  await taskAdd(oracle, taskDirectory(makeRepository(), { ...APART, framework: 'node:test' }));
  const { definition, ...task } = knownTask(oracle, TASK);
  storeTask(oracle, { ...task, definition: { ...definition, framework: null } });
  const { tests_hash } = knownTask(oracle, TASK);
  oracle.db.sql.prepare("update tasks set status = 'ready', tests_hash = ?").run(tests_hash);
  expect(readyTask(oracle, TASK)).toBeNull();
  await expect(taskCheck(oracle, TASK)).rejects.toThrow(/give `framework`, and `reference`/);
});

test('a plain directory inside a repository is not taken for one', async () => {
  const oracle = makeOracle({ runner: fakeRunner() });
  const dir = taskDirectory(join(makeRepository(), 'src'));
  await expect(taskAdd(oracle, dir)).rejects.toThrow(/no git repository/);
});

test('a key or a home that others can open is refused', () => {
  const oracle = makeOracle({ runner: fakeRunner() });
  oracle.close();
  const again = () => makeOracle({ runner: fakeRunner(), root: oracle.home.root });
  again().close();
  chmodSync(join(oracle.home.keys, 'process.key'), 0o640);
  expect(again).toThrow(/chmod go=/);
  chmodSync(join(oracle.home.keys, 'process.key'), 0o600);
  for (const open of [oracle.home.root, oracle.home.store, oracle.home.storeKey, oracle.home.db]) {
    chmodSync(open, 0o755);
    expect(again).toThrow(/chmod go=/);
    chmodSync(open, open === oracle.home.root || open === oracle.home.store ? 0o700 : 0o600);
  }
  rmSync(join(oracle.home.keys, 'process.key'));
  writeFileSync(join(oracle.home.keys, 'process.key'), 'no key', { mode: 0o600 });
  expect(again).toThrow(/not an Ed25519 private key/);
});

test('the keys of two kinds of runner never share a home', () => {
  const oracle = makeOracle({ runner: fakeRunner() });
  const runner = { ...fakeRunner(), kind: 'container' as const };
  expect(() => makeOracle({ runner, root: oracle.home.root })).toThrow(/a home of its own/);
});
