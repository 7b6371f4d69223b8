import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { byContent, gradeRequest } from '../testing.ts';
import { unfinished } from './requests.ts';
import { answerOf, eventually, HOST, setUpDesk } from './testing.ts';

test('a grade whose end cannot be noted is graded again, without a restart', async () => {
  const full = Promise.withResolvers<void>();
  const set = await setUpDesk({ judge: (job) => byContent(job) });
  const { transaction } = set.oracle.db;
  const asked = set.desk.ask(HOST, gradeRequest(set.row, 'good'), 'same_host');
  set.oracle.db.transaction = () => {
    full.resolve();
    throw new Error('database or disk is full');
  };
  await full.promise;
  await vi.waitFor(() => expect(set.runner.jobs).toHaveLength(3));
  expect(unfinished(set.oracle.db)).toHaveLength(1);
  set.oracle.db.transaction = transaction;
  await eventually(async () => {
    await set.timers.advance(10_000);
    expect(unfinished(set.oracle.db)).toEqual([]);
  });
  await set.timers.advance(10_000);
  expect(await asked).toBe('PASS');
});

test('a request whose diff cannot be kept is not taken on: asked again, it is graded', async () => {
  const set = await setUpDesk({ task: { max_attempts: 1 } });
  const folder = join(set.oracle.home.log, 'diffs');
  rmSync(folder, { recursive: true, force: true });
  writeFileSync(folder, 'no folder');
  const request = gradeRequest(set.row, 'good');
  expect(await answerOf(set, request)).toBe('ERROR');
  expect(unfinished(set.oracle.db)).toEqual([]);
  rmSync(folder);
  expect(await answerOf(set, request)).toBe('PASS');
});
