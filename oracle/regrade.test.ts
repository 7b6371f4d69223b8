import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rejectionOf } from '../schemas/signature.ts';
import { exportKeyRing } from './keys/ring.ts';
import { regrade } from './regrade.ts';
import { answerOf, setUpDesk } from './service/testing.ts';
import { taskAdd } from './tasks/add.ts';
import { taskCheck } from './tasks/check.ts';
import { gradeRequest, makeRepository, runResult, taskDirectory } from './testing.ts';

const TASK = 'demo-split-bill';

async function graded() {
  let strict = false;
  const set = await setUpDesk({
    judge: (job) =>
      runResult(0, job.diff?.includes('good') && !(strict && job.diff.includes('lucky')) ? 0 : 1),
  });
  const codes = [];
  for (const [session_id, diff] of [
    ['a', 'good'],
    ['b', 'good lucky'],
    ['c', 'good lucky'],
    ['d', 'bad'],
  ] as const)
    codes.push(await answerOf(set, gradeRequest(set.row, diff, { session_id })));
  expect(codes).toEqual(['PASS', 'PASS', 'PASS', 'FAIL']);
  strict = true;
  return set;
}

test('a PASS that no longer is one is withdrawn, signed under its session, once; everything else stays', async () => {
  const set = await graded();
  const before = set.runner.jobs.length;
  const found = await regrade(set.oracle, TASK);
  expect(found.map(({ session_id, before, now, retracted }) => [session_id, before, now, retracted])).toEqual(
    [
      ['a', 'PASS', 'PASS', false],
      ['b', 'PASS', 'FAIL', true],
      ['c', 'PASS', 'FAIL', true],
      ['d', 'FAIL', 'FAIL', false],
    ],
  );
  expect(set.runner.jobs.length - before).toBe(3);
  const records = await set.verdicts();
  const passes = records.filter(({ value }) => value.verdict === 'PASS' && value.mode === 'grade');
  const withdrawn = records.filter(({ value }) => value.retracts !== null);
  expect(
    withdrawn.map(({ key, value }) => [key, value.mode, value.verdict, value.request_id, value.attempt]),
  ).toEqual([
    ['b', 'regrade', 'FAIL', null, null],
    ['c', 'regrade', 'FAIL', null, null],
  ]);
  expect(withdrawn.map(({ value }) => value.retracts)).toEqual(
    passes.slice(1).map(({ value }) => value.verdict_id),
  );
  const ring = exportKeyRing(set.oracle.home, 'process');
  expect(withdrawn.map(({ value }) => rejectionOf(value, ring))).toEqual([null, null]);
  expect((await regrade(set.oracle, TASK)).map(({ retracted }) => retracted)).toEqual([false, false]);
  expect((await set.verdicts()).filter(({ value }) => value.retracts !== null)).toHaveLength(2);
});

test('what was withdrawn answers nobody else from the cache', async () => {
  const set = await graded();
  await regrade(set.oracle, TASK);
  expect(await answerOf(set, gradeRequest(set.row, 'good lucky', { session_id: 'later' }))).toBe('FAIL');
});

test('a machine that fails, and a diff that is no longer kept, withdraw nothing', async () => {
  const set = await graded();
  const fault = { class: 'disk_full', message: '' } as const;
  set.runner.run = async () => runResult(0, 1, { suite: null, hidden: [], fault });
  expect((await regrade(set.oracle, TASK)).every(({ now, retracted }) => now === 'ERROR' && !retracted)).toBe(
    true,
  );
  rmSync(join(set.oracle.home.log, 'diffs'), { recursive: true });
  expect(
    (await regrade(set.oracle, TASK)).every(
      ({ left, retracted }) => left === 'its diff is no longer kept' && !retracted,
    ),
  ).toBe(true);
});

test('what began at another base commit is left as it is: its diff need not apply to this one', async () => {
  const set = await graded();
  const source = makeRepository({ 'src/bill.js': 'another base\n' });
  await taskAdd(set.oracle, taskDirectory(source));
  set.runner.run = async (job) => runResult(0, 1, job.diff === null ? {} : { refused: 'does not apply' });
  expect((await taskCheck(set.oracle, TASK)).row.status).toBe('ready');
  expect((await regrade(set.oracle, TASK)).map(({ left, retracted }) => [left, retracted])).toEqual(
    Array(4).fill(['began at another base commit', false]),
  );
});

test('a task that is not ready decides nothing', async () => {
  const set = await graded();
  set.oracle.db.sql.exec("update tasks set status = 'quarantined'");
  await expect(regrade(set.oracle, TASK)).rejects.toMatchObject({ code: 'task_not_ready', kind: 'usage' });
});
