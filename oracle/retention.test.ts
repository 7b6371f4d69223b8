import { existsSync, mkdirSync, rmdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { sha256 } from '../schemas/hash.ts';
import { keepDiff, keptDiffs, listRuns, readDiff, readRun } from './private-log.ts';
import { regrade } from './regrade.ts';
import { forgetDiffs, startRetention } from './retention.ts';
import { answerOf, HOST, setUpDesk } from './service/testing.ts';
import { byContent, gradeRequest } from './testing.ts';

const DAY_MS = 86_400_000;
const logger = pino({ level: 'silent' });

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
  const stop = startRetention(set.oracle, set.timers, 30, logger);
  expect([kept('good again'), kept('good slow')]).toEqual([false, true]);
  stop();
  held.resolve();
});

test('one that no request names goes by the age of its file, unless a request takes it up', async () => {
  const set = await setUpDesk();
  const left = ['left', 'good taken up', 'left just now'];
  for (const diff of left) {
    const hash = sha256(diff);
    keepDiff(set.oracle, hash, Buffer.from(diff));
    const days = diff === 'left just now' ? 29 : 31;
    const since = (set.timers.now() - days * DAY_MS) / 1000;
    utimesSync(join(set.oracle.home.log, 'diffs', `${hash}.diff`), since, since);
  }
  await answerOf(set, gradeRequest(set.row, 'good taken up'));
  expect(forgetDiffs(set.oracle, 30)).toBe(1);
  const kept = left.filter((diff) => keptDiffs(set.oracle).some(({ hash }) => hash === sha256(diff)));
  expect(kept).toEqual(['good taken up', 'left just now']);
});

test('what a run printed goes as well; that it ran stays known', async () => {
  const set = await setUpDesk();
  await answerOf(set, gradeRequest(set.row, 'good'));
  await set.timers.advance(20 * DAY_MS);
  await answerOf(set, gradeRequest(set.row, 'good later'));
  const whole = () => listRuns(set.oracle).map(({ run_id }) => readRun(set.oracle, run_id) !== null);
  const before = whole();
  expect(before).not.toContain(false);
  await set.timers.advance(11 * DAY_MS);
  startRetention(set.oracle, set.timers, 30, logger)();
  expect(whole()).toHaveLength(before.length);
  expect(whole()).toContain(false);
  expect(whole()[0]).toBe(true);
});

test('it is done again every day', async () => {
  const set = await setUpDesk();
  const stop = startRetention(set.oracle, set.timers, 1, logger);
  await answerOf(set, gradeRequest(set.row, 'good'));
  const kept = () => readDiff(set.oracle, sha256('good')) !== null;
  expect(kept()).toBe(true);
  await set.timers.advance(3 * DAY_MS);
  expect(kept()).toBe(false);
  stop();
});

test('a disk that refuses stops no service, and is asked again the next day', async () => {
  const set = await setUpDesk();
  await answerOf(set, gradeRequest(set.row, 'good'));
  const kept = join(set.oracle.home.log, 'diffs', `${sha256('good')}.diff`);
  const { sealer } = set.oracle;
  rmSync(kept);
  mkdirSync(kept); // which is not removed as a file is
  await set.timers.advance(2 * DAY_MS);
  const stop = startRetention(set.oracle, set.timers, 1, logger);
  rmdirSync(kept);
  keepDiff({ home: set.oracle.home, sealer }, sha256('good'), Buffer.from('good'));
  await set.timers.advance(DAY_MS);
  expect(existsSync(kept)).toBe(false);
  stop();
});
