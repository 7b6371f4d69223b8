import { expect, test } from 'vitest';
import { fakeRunner, gradeRequest } from '../testing.ts';
import { answerOf, HOST, setUpDesk } from './testing.ts';
import { killAtRandom, quickGrades } from './testing-kills.ts';

test('killed with SIGKILL at any moment: no answered verdict is lost, none published under two ids, the chain unbroken', async () => {
  await killAtRandom(await quickGrades(), 3, 30);
});

test('a restart takes up what was not graded, and answers from what was', async () => {
  const set = await setUpDesk();
  const request = gradeRequest(set.row, 'good');
  set.runner.run = (job) =>
    new Promise((_, reject) => {
      job.signal?.addEventListener('abort', () => reject(new Error('stopped')));
    });
  const first = set.desk.ask(HOST, request, 'same_host');
  await set.desk.stop();
  expect(await first).toBe('PENDING');
  expect(await set.verdicts()).toEqual([]);
  set.runner.run = fakeRunner().run;
  const desk = set.open();
  expect(await answerOf({ desk, timers: set.timers }, request)).toBe('PASS');
  const third = set.open();
  expect(await answerOf({ desk: third, timers: set.timers }, request)).toBe('PASS');
  expect((await set.verdicts()).filter(({ value }) => value.mode === 'grade')).toHaveLength(1);
});
