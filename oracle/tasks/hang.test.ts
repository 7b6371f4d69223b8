/** A task about a hang: refused, unless a person accepts it; a FAIL by the same hang is then the code's own. */
import { expect, test } from 'vitest';
import { gradeDiff } from '../grade-diff.ts';
import type { RunJob } from '../runner/runner.ts';
import { fakeRunner, makeOracle, makeRepository, phase, runResult, taskDirectory } from '../testing.ts';
import { taskAdd } from './add.ts';
import { taskCheck } from './check.ts';
import { publicTask, taskRow } from './rows.ts';
import { knownTask } from './store.ts';

const TASK = 'demo-split-bill';
const hang = (suite = 0) =>
  runResult(suite, 1, { hidden: [phase('hidden 1', null, { timed_out: true, signal: 'SIGKILL' })] });
const byDiff = (job: RunJob) => (job.diff?.includes('good') ? runResult(0, 0) : hang());

async function checked(accept?: string, judge = byDiff) {
  const runner = fakeRunner(judge);
  const oracle = makeOracle({ runner });
  await taskAdd(oracle, taskDirectory(makeRepository()));
  const { row } = await taskCheck(oracle, TASK, { accept });
  const grade = (diff: string) =>
    gradeDiff(oracle, knownTask(oracle, TASK), { kind: 'by_hand', diff: Buffer.from(diff) });
  return { oracle, runner, row, grade };
}

test('hidden tests that hang at the base are refused, and why is told', async () => {
  const { row } = await checked();
  expect(row).toMatchObject({
    status: 'quarantined',
    reason: expect.stringContaining('exceed their time'),
    accepted: null,
  });
});

test('accepted by a person, that is kept; the same hang is FAIL, no fault of the machine, and the fix passes', async () => {
  const { oracle, row, grade } = await checked('the hang is the fault');
  expect(row).toMatchObject({ status: 'ready', accepted: 'the hang is the fault' });
  expect(taskRow(oracle.db, TASK)).toEqual(row);
  const { definition } = knownTask(oracle, TASK);
  expect(publicTask(row, definition, 'process')).toMatchObject({ accepted: true });
  expect(publicTask(row, definition, 'process')).not.toHaveProperty('hangs');
  expect(await grade('bad')).toMatchObject({ code: 'FAIL' });
  expect(await grade('good')).toMatchObject({ code: 'PASS' });
});

test('a machine on which the suite does not pass either is ERROR all the same', async () => {
  const { runner, grade } = await checked('the hang is the fault');
  runner.run = async () => hang(1);
  expect(await grade('bad')).toMatchObject({ code: 'ERROR' });
});

test('where something else was accepted, a hang of the baseline is the machine\u2019s', async () => {
  const output = 'ImportError: no such name';
  const imports = runResult(0, 1, { hidden: [phase('hidden 1', 1, { output })] });
  const { runner, row, grade } = await checked('a new function', () => imports);
  expect(row.status).toBe('ready');
  runner.run = async () => hang();
  expect(await grade('bad')).toMatchObject({ code: 'ERROR' });
});
