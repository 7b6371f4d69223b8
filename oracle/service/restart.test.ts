import { expect, test } from 'vitest';
import { fakeRunner, gradeRequest, runResult } from '../testing.ts';
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

test('a stop between two tries waits for no further one', async () => {
  const stopping = Promise.withResolvers<void>();
  const fault = { class: 'mirror_unreadable', message: 'gone' } as const;
  const set = await setUpDesk({
    judge: () => {
      set.desk.stop().then(stopping.resolve);
      return runResult(0, 1, { suite: null, hidden: [], fault });
    },
  });
  const asked = set.desk.ask(HOST, gradeRequest(set.row, 'good'), 'same_host');
  await stopping.promise;
  expect(await asked).toBe('PENDING');
  expect(set.runner.jobs).toHaveLength(3);
});
