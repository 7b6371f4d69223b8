import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drainOutbox } from '../outbox.ts';
import { listRuns, readRun } from '../private-log.ts';
import type { Phase, RunJob, RunResult } from '../runner/runner.ts';
import {
  DEMO,
  demoPatch,
  fakeRunner,
  makeOracle,
  makeRepository,
  phase,
  runResult,
  taskDirectory,
  testLog,
} from '../testing.ts';
import { taskAdd } from './add.ts';
import { taskCheck } from './check.ts';
import { readyTask } from './rows.ts';
import { quarantine, release } from './state.ts';
import { knownTask } from './store.ts';
import { wrongReason } from './wrong-reason.ts';

const TASK = 'demo-split-bill';
type Outcome = NonNullable<Phase['tests']>[number]['outcome'];

function told(name: string, outcomes: Record<string, Outcome>, more: Partial<Phase> = {}): Phase {
  const tests = Object.entries(outcomes).map(([id, outcome]) => ({ id, outcome }));
  const good = tests.every(({ outcome }) => outcome === 'passed' || outcome === 'skipped');
  return phase(name, good ? 0 : 1, { tests, verdict: { passed: good, why: 'told' }, ...more });
}

/** A run with ids, as the runner reports it: what the reference passes, the base fails. */
function run(job: RunJob, suite: Record<string, Outcome> = { old: 'passed' }): RunResult {
  const hidden = told('hidden 1', { new: job.diff ? 'passed' : 'failed', kept: 'passed' });
  const { suite_ids } = job.definition;
  const verdict = suite_ids && { passed: suite_ids.every((id) => suite[id] === 'passed'), why: 'by ids' };
  return runResult(0, 0, { suite: told('suite', suite, verdict ? { verdict } : {}), hidden: [hidden] });
}

async function checked(judge: (job: RunJob) => RunResult, change: object = {}, accept?: string) {
  const runner = fakeRunner(judge);
  const oracle = makeOracle({ runner });
  const directory = taskDirectory(makeRepository(), {
    ...{ framework: 'node:test', reference: 'reference.patch' },
    ...change,
  });
  writeFileSync(join(directory, 'reference.patch'), demoPatch('fix'));
  writeFileSync(join(directory, 'ids.txt'), 'new\nkept\n\nnew\n');
  const added = await taskAdd(oracle, directory);
  return { oracle, runner, added, report: await taskCheck(oracle, TASK, { accept }) };
}

test('O2 what the reference passes every time has to pass from then on; the hash says so', async () => {
  const { oracle, runner, report, added } = await checked((job) => run(job));
  expect(report.row).toMatchObject({ status: 'ready', reason: null, suite_excluded: 0, reference_passed: 1 });
  const { definition } = knownTask(oracle, TASK);
  expect(definition).toMatchObject({
    expected_ids: ['kept', 'new'],
    suite_ids: ['old'],
    ids_from: 'reference',
  });
  expect(report.row.tests_hash).not.toBe(added.tests_hash);
  expect(readyTask(oracle, TASK)).not.toBeNull();
  // Twice each, in another order each time, and once more held against what was found.
  expect(runner.jobs.map(({ diff, seed }) => [diff !== null, seed])).toEqual([
    ...[1, 2].map((seed) => [false, seed]),
    ...[1, 2].map((seed) => [true, seed]),
    [true, 3],
  ]);
  expect(runner.jobs.at(-1)?.definition.expected_ids).toEqual(['kept', 'new']);
  expect(listRuns(oracle).map(({ kind }) => kind)).toEqual([
    ...Array(3).fill('reference'),
    'baseline',
    'baseline',
  ]);
  const again = await taskCheck(oracle, TASK);
  expect(again.row.tests_hash).toBe(report.row.tests_hash);
});

test('tests of the suite that do not pass every time are left out, with a count', async () => {
  let flaky = 0;
  const { oracle, report } = await checked((job) =>
    run(job, {
      old: 'passed',
      never: 'failed',
      skipped: 'skipped',
      flaky: flaky++ % 2 ? 'passed' : 'failed',
    }),
  );
  expect(report).toMatchObject({ row: { status: 'ready', suite_excluded: 3 }, differing: ['flaky'] });
  expect(knownTask(oracle, TASK).definition.suite_ids).toEqual(['old']);
});

test('a hidden test that is skipped with the reference is asked of nobody, and told', async () => {
  const elsewhere = (job: RunJob, outcome: Outcome) =>
    runResult(0, 0, {
      suite: told('suite', { old: 'passed' }),
      hidden: [told('hidden 1', { new: job.diff ? 'passed' : outcome, elsewhere: 'skipped' })],
    });
  const { oracle, report } = await checked((job) => elsewhere(job, 'failed'));
  expect(report).toMatchObject({ row: { status: 'ready' }, skipped: ['elsewhere'] });
  expect(knownTask(oracle, TASK).definition.expected_ids).toEqual(['new']);
  // Skipped at the base, since what it asks for is not there, is not passed there.
  expect((await checked((job) => elsewhere(job, 'skipped'))).report.row.status).toBe('ready');
});

test('ids of a file are what has to pass, whatever the reference passes', async () => {
  const { oracle } = await checked((job) => run(job), { expected_ids: 'ids.txt' });
  expect(knownTask(oracle, TASK).definition).toMatchObject({
    expected_ids: ['kept', 'new'],
    ids_from: 'file',
  });
});

const hiddenOf = (job: RunJob, fails: Phase) =>
  runResult(0, 0, {
    suite: told('suite', { old: 'passed' }),
    hidden: [job.diff ? told('hidden 1', { new: 'passed' }) : fails],
  });
const failing = (output: string) => told('hidden 1', { new: 'error' }, { output });
let turn = 0;

const REFUSED: [string, (job: RunJob) => RunResult, RegExp][] = [
  [
    'O6 two runs differ',
    (job) => hiddenOf(job, told('hidden 1', { new: 'failed', x: turn++ % 2 ? 'failed' : 'passed' })),
    /not deterministic/,
  ],
  ['the reference does not pass', (job) => run({ ...job, diff: null }), /do not pass with the reference/],
  [
    'the reference does not apply',
    (job) => (job.diff ? runResult(0, 0, { refused: 'no' }) : run(job)),
    /cannot be applied/,
  ],
  [
    'the reference breaks the suite',
    (job) => ({ ...run(job), suite: job.diff ? phase('suite', 1) : phase('suite', 0) }),
    /suite does not pass with the reference/,
  ],
  [
    'O3 a canary passes',
    (job) => ({ ...run(job), evidence_fault: job.diff ? 'one passed' : null }),
    /canary/,
  ],
  ['the hidden tests pass at the base', (job) => run({ ...job, diff: Buffer.from('') }), /nothing to do/],
];

test.each(REFUSED)('quarantined, and no word of a person changes it: %s', async (_, judge, reason) => {
  const { oracle, report } = await checked(judge, {}, 'I know better');
  expect(report.row).toMatchObject({ status: 'quarantined', baseline_id: null });
  expect(report.row.reason).toMatch(reason);
  expect(readyTask(oracle, TASK)).toBeNull();
});

const WRONG: [string, string][] = [
  ['an import error', "E   ModuleNotFoundError: No module named 'bill.rest'"],
  ['an import error', "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/x/src/rest.js'"],
  ['an import error', "SyntaxError: The requested module './a.js' does not provide an export named 'b'"],
  ['a missing fixture', "E       fixture 'ledger' not found"],
  ['a syntax error', '  File "test_x.py", line 3\nIndentationError: unexpected indent'],
  ['an error during collection', 'ERROR collecting tests/test_x.py'],
  ['code that does not compile', 'src/lib.rs:3\nerror[E0425]: cannot find function `rest`'],
  [
    'code that does not compile',
    '# example.com/bill [example.com/bill.test]\n./bill_test.go:9:7: undefined: Rest\nFAIL [build failed]',
  ],
  ['a missing file', "FileNotFoundError: [Errno 2] No such file or directory: 'data/x.json'"],
];

test.each(WRONG)('a wrong reason is recognised: %s', (name, output) => {
  expect(wrongReason(runResult(0, 1, { hidden: [failing(output)] }))).toBe(name);
});

test('a wrong reason is refused unless a person accepts it, having read the failure', async () => {
  const judge = (job: RunJob) => hiddenOf(job, failing("fixture 'ledger' not found"));
  const refused = await checked(judge);
  expect(refused.report.row).toMatchObject({ status: 'quarantined' });
  expect(refused.report.row.reason).toContain('a missing fixture');
  expect(refused.report.failure).toContain("fixture 'ledger' not found");
  const accepted = await checked(judge, {}, 'the fixture is the task');
  expect(accepted.report.row).toMatchObject({ status: 'ready', accepted: 'the fixture is the task' });
});

test('an assertion that fails is a right reason', () => {
  const output =
    'AssertionError [ERR_ASSERTION]: Expected values to be strictly deep-equal: [ 3, 3 ] !== [ 4, 3 ]';
  expect(wrongReason(runResult(0, 1, { hidden: [failing(output)] }))).toBeNull();
});

test('a suite of which nothing holds needs a person\u2019s word', async () => {
  const judge = (job: RunJob) => run(job, { old: 'failed' });
  expect((await checked(judge)).report.row.reason).toMatch(/nothing guards/);
  expect((await checked(judge, {}, 'there is no suite yet')).report.row.status).toBe('ready');
});

test('O7 a reference that the path filter cuts is refused before anything runs; only its operator is told of what', async () => {
  const { oracle, runner, report } = await checked((job) => run(job), { allowlist: ['lib/**'] }, 'mine');
  expect(report.row.reason).toBe('the path filter cuts a part off the reference');
  expect(report.detail).toMatch(/src\/bill\.js \(not_allowed\).*allowlist/);
  expect(runner.jobs).toEqual([]);
  const [logged] = listRuns(oracle);
  expect(readRun(oracle, logged?.run_id ?? '')).toContain('src/bill.js');
  const log = testLog();
  await drainOutbox(oracle.db, log);
  expect(log.records.at(-1)?.value).toMatchObject({ status: 'quarantined', reason: report.row.reason });
  expect(JSON.stringify(log.records)).not.toContain('src/bill.js');
});

test('O4 an image that holds what the fix adds is refused unless a person accepts it', async () => {
  const asked: string[][] = [];
  const report = async (lines: number, accept?: string, short = false) => {
    const runner = { ...fakeRunner((job) => run(job)), kind: 'container' as const };
    const searchImage = async (_: string, wanted: readonly string[]) => {
      asked.push([...wanted]);
      return [{ path: '/usr/lib/bill.js', lines }];
    };
    const oracle = makeOracle({ runner, searchImage });
    const change = { framework: 'node:test', reference: 'fix.patch', image: `sha256:${'0'.repeat(64)}` };
    const directory = taskDirectory(makeRepository(), change);
    const fix = readFileSync(join(DEMO, 'fix.patch'), 'utf8');
    writeFileSync(join(directory, 'fix.patch'), short ? fix.replace(/^\+(?!\+).*/gm, '+  x') : fix);
    await taskAdd(oracle, directory);
    return taskCheck(oracle, TASK, { accept });
  };
  const check = async (lines: number, accept?: string) => (await report(lines, accept)).row;
  expect((await check(9)).reason).toMatch(/image holds/);
  expect((await check(9, 'another program')).status).toBe('ready');
  expect((await check(0)).status).toBe('ready');
  expect(asked[0]?.length).toBeGreaterThan(0);
  expect(await report(0)).toMatchObject({ unsearched: false });
  asked.length = 0;
  expect(await report(0, undefined, true)).toMatchObject({ row: { status: 'ready' }, unsearched: true });
  expect(asked.flat()).toEqual([]);
});

test('with a framework nothing is graded before it is known which tests there must be', async () => {
  await expect(checked((job) => run(job), { reference: null })).rejects.toMatchObject({
    code: 'reference_missing',
  });
});

test('quarantine and release by hand, told in the tasks topic; without a word of what is hidden', async () => {
  const { oracle, report } = await checked(
    (job) => hiddenOf(job, failing('Cannot find module x')),
    {},
    'why SECRET',
  );
  expect(quarantine(oracle, TASK, 'guessed too often').status).toBe('quarantined');
  expect(readyTask(oracle, TASK)).toBeNull();
  expect(release(oracle, TASK)).toEqual(report.row);
  const log = testLog();
  await drainOutbox(oracle.db, log);
  const told = log.records.map(({ value }) => value);
  expect(told.map((task) => ('status' in task ? task.status : ''))).toEqual([
    'unchecked',
    'ready',
    'quarantined',
    'ready',
  ]);
  expect(told.at(-1)).toMatchObject({
    accepted: true,
    reference_passed: true,
    runner: 'process',
    framework: 'node:test',
  });
  expect(JSON.stringify(told)).not.toMatch(/SECRET|Cannot find|"new"/);
  expect(readRun(oracle, listRuns(oracle).at(-1)?.run_id ?? '')).toContain('Cannot find module x');
});

test('what a check has quarantined only a check releases', async () => {
  const { oracle } = await checked((job) => run({ ...job, diff: null }));
  expect(() => release(oracle, TASK)).toThrow(/task check/);
});
