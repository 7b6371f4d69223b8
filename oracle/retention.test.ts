import { expect, test } from 'vitest';
import { sha256 } from '../schemas/hash.ts';
import { readDiff } from './private-log.ts';
import { regrade } from './regrade.ts';
import { forgetDiffs, startRetention } from './retention.ts';
import { answerOf, HOST, setUpDesk } from './service/testing.ts';
import { byContent, gradeRequest } from './testing.ts';

const DAY_MS = 86_400_000;

test('a diff goes when nobody has asked about it for as long as the operator says, and not before it is graded', async () => {
  const set = await setUpDesk({ task: { max_attempts: 20 } });
  const kept = (diff: string) => readDiff(set.oracle, sha256(diff)) !== null;
  for (const diff of ['good old', 'good again']) await answerOf(set, gradeRequest(set.row, diff));
  await set.timers.advance(20 * DAY_MS);
  await answerOf(set, gradeRequest(set.row, 'good again', { session_id: 'later' }));
  await set.timers.advance(11 * DAY_MS);
  expect(forgetDiffs(set.oracle, 40)).toBe(0);
  expect(forgetDiffs(set.oracle, 30)).toBe(1);
  expect([kept('good old'), kept('good again')]).toEqual([false, true]);
  const again = await regrade(set.oracle, 'demo-split-bill');
  expect(again.map(({ now }) => now)).toEqual([null, 'PASS', 'PASS']);

  const held = Promise.withResolvers<void>();
  set.runner.run = async (job) => {
    await held.promise;
    return byContent(job);
  };
  void set.desk.ask(HOST, gradeRequest(set.row, 'good slow'), 'same_host');
  await set.timers.advance(99 * DAY_MS);
  const stop = startRetention(set.oracle, set.timers, 30);
  expect([kept('good again'), kept('good slow')]).toEqual([false, true]);
  stop();
  held.resolve();
});

test('it is done again every day', async () => {
  const set = await setUpDesk();
  const stop = startRetention(set.oracle, set.timers, 1);
  await answerOf(set, gradeRequest(set.row, 'good'));
  const kept = () => readDiff(set.oracle, sha256('good')) !== null;
  expect(kept()).toBe(true);
  await set.timers.advance(3 * DAY_MS);
  expect(kept()).toBe(false);
  stop();
});
