import fc from 'fast-check';
import { expect, test } from 'vitest';
import { passed } from '../runner/runner.ts';
import { phase } from '../testing.ts';
import { evidenceFault, judgeHidden, judgeSuite, readPhase } from './judge.ts';
import type { ReportedTest, TestOutcome } from './report.ts';

const WORD = 'Kfeed';
const lines = (tests: readonly ReportedTest[]) => tests.map((each) => `${JSON.stringify(each)}\n`).join('');
const ran = (...tests: [string, TestOutcome][]): ReportedTest[] =>
  tests.map(([id, outcome]) => ({ id, outcome }));
const CANARY = ran([`h.py::test_${WORD}_1`, 'failed'], [`h.py::test_${WORD}_2`, 'error']);

function hidden(tests: readonly ReportedTest[] | string, ids: string[] | null, exit = 1) {
  const text = typeof tests === 'string' ? tests : lines(tests);
  const read = readPhase(phase('hidden 1', exit), 'pytest', { text, tree: '' }, WORD);
  const [judged] = judgeHidden([read], 'pytest', ids);
  if (!judged) throw new Error('no phase');
  return {
    passed: passed(judged),
    why: judged.verdict?.why,
    fault: evidenceFault([judged]),
    tests: judged.tests,
  };
}

test('passes when each expected id passed once and every canary failed; what else was reported does not matter', () => {
  const seen = hidden([...ran(['a', 'passed'], ['b', 'passed'], ['other', 'failed']), ...CANARY], ['a', 'b']);
  expect(seen).toMatchObject({ passed: true, fault: null });
  expect(seen.tests?.map(({ id }) => id)).toEqual(['a', 'b', 'other']);
});

const NO_PASS: [string, ReportedTest[] | string, number, RegExp][] = [
  ['O2 absent', ran(['b', 'passed']), 1, /a was not reported/],
  ['O2 skipped', ran(['a', 'skipped'], ['b', 'passed']), 1, /a skipped/],
  ['O2 expected to fail', ran(['a', 'xfailed'], ['b', 'passed']), 1, /a xfailed/],
  ['O2 renamed', ran(['a2', 'passed'], ['b', 'passed']), 1, /a was not reported/],
  ['O2 reported twice', ran(['a', 'passed'], ['a', 'passed'], ['b', 'passed']), 1, /a was reported 2 times/],
  ['passed and then failed', ran(['a', 'passed'], ['a', 'error'], ['b', 'passed']), 1, /2 times/],
  ['no report', '', 0, /no report/],
  ['a report cut short', lines(ran(['a', 'passed'])).slice(0, -4), 1, /no report/],
  ['an exit status that says nothing failed', ran(['a', 'passed'], ['b', 'passed']), 0, /ended with 0/],
];

test.each(NO_PASS)('no pass: %s', (_, tests, exit, why) => {
  const given = typeof tests === 'string' ? tests : [...tests, ...CANARY];
  const seen = hidden(given, ['a', 'b'], exit);
  expect(seen.passed).toBe(false);
  expect(seen.why).toMatch(why);
});

test('O3 a canary that is absent or did not fail is no pass, and whoever checks the task is told', () => {
  const good = ran(['a', 'passed']);
  expect(hidden(good, ['a'])).toMatchObject({ passed: false, why: 'reported no canary', fault: /no canary/ });
  for (const outcome of ['passed', 'skipped', 'xfailed'] as const) {
    const seen = hidden([...good, ...CANARY, ...ran([`h.py::test_${WORD}_3`, outcome])], ['a']);
    expect(seen).toMatchObject({
      passed: false,
      fault: expect.stringContaining(`_3 was reported as ${outcome}`),
    });
  }
});

test('before the ids are known none of the reported tests may fail, and one has to pass', () => {
  const judged = (...tests: [string, TestOutcome][]) => hidden([...ran(...tests), ...CANARY], null).passed;
  expect(judged(['a', 'passed'])).toBe(true);
  expect(judged(['a', 'passed'], ['b', 'skipped'])).toBe(true);
  expect(judged(['a', 'skipped'], ['b', 'skipped'])).toBe(false);
  for (const outcome of ['failed', 'error', 'xfailed'] as const)
    expect(judged(['a', 'passed'], ['b', outcome])).toBe(false);
  expect(hidden(CANARY, null).passed).toBe(false);
  expect(hidden(CANARY, []).passed).toBe(false);
});

test('an id may come from any of several hidden files, and each of them needs its canaries', () => {
  const read = (name: string, tests: ReportedTest[]) =>
    readPhase(phase(name, 1), 'pytest', { text: lines(tests), tree: '' }, WORD);
  const all = (second: ReportedTest[]) =>
    judgeHidden(
      [read('hidden 1', [...ran(['a', 'passed']), ...CANARY]), read('hidden 2', second)],
      'pytest',
      ['a', 'b'],
    );
  expect(all([...ran(['b', 'passed']), ...CANARY]).map(passed)).toEqual([true, true]);
  expect(all(ran(['b', 'passed'])).map(passed)).toEqual([true, false]);
  expect(all(CANARY).map(passed)).toEqual([true, false]);
});

test('the suite: its ids decide when they are known, and its exit status before', () => {
  const judge = (tests: ReportedTest[], exit: number, ids: string[] | null) =>
    passed(
      judgeSuite(readPhase(phase('suite', exit), 'pytest', { text: lines(tests), tree: '' }, null), ids),
    );
  const some = ran(['a', 'passed'], ['excluded', 'failed']);
  expect(judge(some, 1, ['a'])).toBe(true);
  expect(judge(some, 1, null)).toBe(false);
  expect(judge(ran(['a', 'passed'], ['b', 'skipped']), 0, null)).toBe(true);
  expect(judge(ran(['b', 'skipped']), 0, null)).toBe(false);
  expect(judge([], 0, ['a'])).toBe(false);
  expect(judge(some, 137, ['a'])).toBe(false);
});

const Test = fc.record({
  id: fc.constantFrom('a', 'b', 'c', `${WORD}_1`, `${WORD}_2`),
  outcome: fc.constantFrom<TestOutcome>('passed', 'failed', 'skipped', 'xfailed', 'error'),
});

test('whatever is reported, a pass means: each id once and passed, a canary there, every canary failed', () => {
  fc.assert(
    fc.property(fc.array(Test, { maxLength: 8 }), fc.constantFrom(0, 1, 2, 137), (tests, exit) => {
      const once = (id: string) => tests.filter((each) => each.id === id);
      const canaries = tests.filter(({ id }) => id.includes(WORD));
      const should =
        exit === 1 &&
        ['a', 'b'].every((id) => once(id).length === 1 && once(id)[0]?.outcome === 'passed') &&
        canaries.length > 0 &&
        canaries.every(({ outcome }) => outcome === 'failed' || outcome === 'error');
      expect(hidden(tests, ['a', 'b'], exit).passed).toBe(should);
    }),
  );
});

// What was copied for each repetition took minutes, which the time of a test does not allow.
test('a report that repeats itself without end holds nobody up', () => {
  const { why } = hidden(lines(Array(100_000).fill({ id: 'a', outcome: 'passed' })) + lines(CANARY), ['a']);
  expect(why).toBe('a was reported 100000 times');
});

test('a report that exhausts the stack of its reader is none', () => {
  const file = { name: 'a', status: 'failed', assertionResults: new Array(300_000).fill(0) };
  const text = JSON.stringify({ testResults: [file] });
  expect(readPhase(phase('hidden 1', 1), 'jest', { text, tree: '' }, WORD)).toMatchObject({ tests: null });
});
