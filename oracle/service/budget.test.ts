import { expect, test } from 'vitest';
import { sha256 } from '../../schemas/hash.ts';
import { keptDiffs } from '../private-log.ts';
import { gradeRequest, runResult } from '../testing.ts';
import { answerOf, HOST, setUpDesk } from './testing.ts';

test('beyond max_attempts of a session and task the answer is NO_TASK and nothing is signed', async () => {
  const set = await setUpDesk({ task: { max_attempts: 2 } });
  const codes = [];
  for (const diff of ['a', 'b', 'c']) codes.push(await answerOf(set, gradeRequest(set.row, diff)));
  codes.push(await answerOf(set, gradeRequest(set.row, 'good', { session_id: 'fresh' })));
  codes.push(await answerOf(set, gradeRequest(set.row, 'good'), { name: 'other host', tasks: ['*'] }));
  expect(codes).toEqual(['FAIL', 'FAIL', 'NO_TASK', 'PASS', 'PASS']);
  const grades = (await set.verdicts()).filter(({ value }) => value.mode === 'grade');
  expect(grades).toHaveLength(4);
});

test('the diff of a request that is refused is not kept: asking beyond the budget fills no disk', async () => {
  const set = await setUpDesk({ task: { max_attempts: 1 } });
  const codes = [];
  for (const diff of ['a', 'b', 'c']) codes.push(await answerOf(set, gradeRequest(set.row, diff)));
  expect(codes).toEqual(['FAIL', 'NO_TASK', 'NO_TASK']);
  expect(keptDiffs(set.oracle).map(({ hash }) => hash)).toEqual([sha256('a')]);
});

test('many requests at once do not go beyond the budget', async () => {
  const set = await setUpDesk({ task: { max_attempts: 3 }, desk: { concurrency: 2 } });
  const asks = Array.from({ length: 10 }, (_, at) => answerOf(set, gradeRequest(set.row, `diff ${at}`)));
  const codes = await Promise.all(asks);
  expect(codes.filter((code) => code === 'FAIL')).toHaveLength(3);
  expect(codes.filter((code) => code === 'NO_TASK')).toHaveLength(7);
  const grades = (await set.verdicts()).filter(({ value }) => value.mode === 'grade');
  expect(grades.map(({ value }) => value.attempt)).toEqual([1, 2, 3]);
});

test('new session ids do not get a host beyond the day\u2019s cap; the next day does', async () => {
  const set = await setUpDesk({ task: { daily_cap: 3 } });
  const ask = (session_id: string) => answerOf(set, gradeRequest(set.row, 'bad', { session_id }));
  const codes = [];
  for (const session of ['a', 'b', 'c', 'd']) codes.push(await ask(session));
  expect(codes).toEqual(['FAIL', 'FAIL', 'FAIL', 'NO_TASK']);
  expect(
    await answerOf(set, gradeRequest(set.row, 'bad', { session_id: 'e' }), { ...HOST, name: 'other' }),
  ).toBe('FAIL');
  await set.timers.advance(86_400_000);
  expect(await ask('f')).toBe('FAIL');
});

test('ERROR uses no attempt, and still cannot be asked for without end', async () => {
  const fault = { class: 'mirror_unreadable', message: 'gone' } as const;
  const set = await setUpDesk({
    task: { daily_cap: 1, max_attempts: 1 },
    judge: () => runResult(0, 1, { suite: null, hidden: [], fault }),
  });
  const codes = [];
  for (let at = 0; at < 6; at++) codes.push(await answerOf(set, gradeRequest(set.row, `diff ${at}`)));
  expect(codes).toEqual(['ERROR', 'ERROR', 'ERROR', 'ERROR', 'ERROR', 'NO_TASK']);
});
