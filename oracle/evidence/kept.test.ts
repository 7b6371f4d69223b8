import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listRuns, readRun } from '../private-log.ts';
import { runTask } from '../run-task.ts';
import { taskAdd } from '../tasks/add.ts';
import { knownTask } from '../tasks/store.ts';
import { fakeRunner, makeOracle, makeRepository, phase, runResult, taskDirectory } from '../testing.ts';
import { judgeRun } from './judge.ts';
import { KEPT_TESTS, keptId, keptResult } from './kept.ts';
import type { ReportedTest } from './report.ts';

const IDS = { suite_ids: null, expected_ids: ['passes', 'fails', 'skipped', 'twice', 'absent'] };

const madeUp = (count: number): ReportedTest[] =>
  Array.from({ length: count }, (_, n) => ({ id: `made up ${n}`, outcome: 'passed' }));

/** Among so many others, two tests that failed, one of them expected; what else is expected, but one; and one without end. */
const reported = (count: number): ReportedTest[] => [
  ...madeUp(count),
  { id: 'unexpected', outcome: 'failed' },
  { id: 'passes', outcome: 'passed' },
  { id: 'fails', outcome: 'failed' },
  { id: 'skipped', outcome: 'skipped' },
  ...Array<ReportedTest>(count).fill({ id: 'twice', outcome: 'passed' }),
];

const MANY = 3 * KEPT_TESTS;
const TESTS = reported(MANY);

test('of too many tests those are kept that decide', () => {
  const hidden = phase('hidden 1', 1, { tests: TESTS, canaries: madeUp(MANY) });
  const [kept] = keptResult(runResult(0, 1, { hidden: [hidden] }), IDS).hidden;
  expect(kept?.tests).toHaveLength(KEPT_TESTS);
  expect(kept?.canaries).toHaveLength(KEPT_TESTS);
  expect(kept?.cut).toEqual({ tests: TESTS.length, canaries: MANY, missing: ['absent'] });
  const first = kept?.tests?.slice(0, 6).map(({ id, outcome }) => `${id} ${outcome}`);
  expect(first?.slice(0, 3).sort()).toEqual(['fails failed', 'skipped skipped', 'twice passed']);
  expect(first?.slice(3)).toEqual(['unexpected failed', 'passes passed', 'twice passed']);
});

test('what another phase reported is not missing, and a canary that did not fail is kept', () => {
  const alive = { id: 'alive', outcome: 'passed' as const };
  const canaries = [...madeUp(MANY).map(({ id }) => ({ id, outcome: 'failed' as const })), alive];
  const hidden = [
    phase('hidden 1', 1, { tests: TESTS, canaries }),
    phase('hidden 2', 1, { tests: [{ id: 'absent', outcome: 'passed' }], canaries: [] }),
  ];
  const [first, second] = keptResult(runResult(0, 1, { hidden }), IDS).hidden;
  expect(first?.cut?.missing).toEqual([]);
  expect(first?.canaries).toContainEqual(alive);
  expect(second).toEqual(hidden[1]);
});

test('a grade brings back what decides, a check everything', () => {
  const text = TESTS.map((test) => `${JSON.stringify(test)}\n`).join('');
  const reports = new Map([['hidden 1', { text, tree: '' }]]);
  const { suite, hidden } = runResult(0, 1);
  const run = { ...IDS, framework: 'pytest' as const, suite, hidden, reports, word: 'Kfeed' };
  const told = (learns: boolean) => judgeRun({ ...run, learns }).hidden[0]?.tests?.length;
  expect([told(false), told(true)]).toEqual([KEPT_TESTS, TESTS.length]);
});

test('the private log of such a run stays small, and names what decides', async () => {
  const long = 'x'.repeat(5_000_000);
  const tests: ReportedTest[] = [...reported(200_000), { id: long, outcome: 'failed' }];
  const runner = fakeRunner(() => runResult(0, 1, { hidden: [phase('hidden 1', 1, { tests })] }));
  const oracle = makeOracle({ runner });
  const change = { framework: 'pytest', suite: 'tests', hidden: ['tests'], expected_ids: 'ids' };
  const task = taskDirectory(makeRepository(), change);
  writeFileSync(join(task, 'ids'), `${IDS.expected_ids.join('\n')}\n`);
  await taskAdd(oracle, task);
  const stored = knownTask(oracle, 'demo-split-bill');
  const result = await runTask(oracle, stored, { kind: 'reference', diff: null });
  expect(result.hidden[0]?.tests).toBe(tests);
  const log = readRun(oracle, listRuns(oracle)[0]?.run_id ?? '') ?? '';
  expect(log.length).toBeLessThan(2 ** 20);
  for (const id of ['fails', 'skipped', 'twice', 'passes', 'absent', 'unexpected', keptId(long)])
    expect(log).toContain(`"${id}"`);
});

test('keeping what was kept changes nothing', () => {
  const outcome = fc.constantFrom('passed', 'failed', 'skipped', 'xfailed', 'error');
  const id = fc.oneof(fc.constantFrom(...IDS.expected_ids), fc.string({ maxLength: 600, unit: 'binary' }));
  fc.assert(
    fc.property(fc.array(fc.record({ id, outcome }), { maxLength: 30 }), (tests) => {
      const run = runResult(0, 1, { hidden: [phase('hidden 1', 1, { tests, canaries: [] })] });
      const once = keptResult(run, IDS);
      expect(keptResult(once, IDS)).toEqual(once);
      expect(once.hidden[0]?.tests?.length).toBe(tests.length);
    }),
  );
});
