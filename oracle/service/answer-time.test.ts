import fc from 'fast-check';
import { expect, test } from 'vitest';
import { define, TaskDefinition, TaskFile } from '../tasks/definition.ts';
import { longestRunMs } from '../tasks/longest-run.ts';
import { byContent, gradeRequest, runResult } from '../testing.ts';
import { answerTime } from './answer-time.ts';
import { unfinished } from './requests.ts';
import { BUCKET, eventually, HOST, setUpDesk } from './testing.ts';

const BASELINE = 401;
const FLOOR = 1003;

const DEFINITION = define(
  TaskFile.parse({
    task_id: 't',
    mirror: '.',
    base_commit: 'HEAD',
    suite: 'a',
    hidden: ['b'],
    allowlist: ['*'],
  }),
  { base_commit: 'a'.repeat(40), root_commits: ['a'.repeat(40)] },
  '0'.repeat(32),
);

/** Asks for each at once. A diff says in its last word how long its run takes. @returns when each answer came */
async function answered(
  diffs: readonly string[],
  until: number,
  task: Record<string, unknown> = {},
): Promise<Record<string, string>> {
  const set = await setUpDesk({ task, desk: { bucketMs: 1, concurrency: diffs.length } });
  set.oracle.db.sql.prepare('update tasks set baseline_ms = ?').run(BASELINE);
  set.runner.run = async (job) => {
    set.runner.jobs.push(job);
    const diff = job.diff?.toString() ?? `control ${BASELINE}`;
    const takes = Number(diff.split(' ').at(-1));
    if (takes > 0) await new Promise<void>((resolve) => set.timers.at(set.timers.now() + takes, resolve));
    if (diff.startsWith('refused')) return runResult(0, 0, { refused: 'it does not apply' });
    return diff.startsWith('suite') ? runResult(1, 1) : byContent(job);
  };
  const jobs = set.runner.jobs.length;
  const start = set.timers.now();
  const at: Record<string, string> = {};
  const asked = diffs.map((diff) =>
    set.desk
      .ask(HOST, gradeRequest(set.row, diff, { session_id: diff }), 'same_host')
      .then((code) => (at[diff] = `${code} ${set.timers.now() - start}`)),
  );
  await eventually(() => expect(set.runner.jobs.length).toBeGreaterThanOrEqual(jobs + diffs.length));
  await set.timers.advance(until - 1);
  await eventually(() => expect(unfinished(set.oracle.db)).toEqual([]));
  await set.timers.advance(1);
  const known = { ...at };
  await set.timers.advance(100 * until);
  await Promise.all(asked);
  expect(Object.keys(known).sort()).toEqual(Object.keys(at).sort());
  return at;
}

test('O7 no FAIL tells by its time why: refused at once, hidden tests failed, suite failed', async () => {
  const at = await answered(
    ['refused 0', 'refused 3', 'bad 7', `bad ${BASELINE}`, 'suite 601', 'bad 1002'],
    FLOOR,
  );
  expect(new Set(Object.values(at))).toEqual(new Set([`FAIL ${FLOOR}`]));
});

test('O7 code that sleeps by what it reads tells how often the floor doubles, and nothing finer', async () => {
  const at = await answered(
    ['bad 1004', 'bad 1900', 'bad 2007', 'suite 3000', 'bad 4011', 'good 1500'],
    4 * FLOOR,
  );
  expect(at).toEqual({
    ...{ 'bad 1004': `FAIL ${2 * FLOOR}`, 'bad 1900': `FAIL ${2 * FLOOR}` },
    ...{
      'bad 2007': `FAIL ${4 * FLOOR}`,
      'suite 3000': `FAIL ${4 * FLOOR}`,
      'bad 4011': `FAIL ${4 * FLOOR}`,
    },
    // A PASS leaves when it is found.
    'good 1500': 'PASS 1501',
  });
});

test('O7 what leaves at one moment leaves in the order in which it was asked for, whichever run ended first', async () => {
  const set = await setUpDesk({ desk: { concurrency: 3 } });
  let begun = 0;
  const ends: string[] = [];
  set.runner.run = async (job) => {
    begun++;
    const takes = Number(job.diff?.toString().split(' ').at(-1));
    await new Promise<void>((resolve) => set.timers.at(set.timers.now() + takes, resolve));
    ends.push(String(takes));
    return byContent(job);
  };
  const answers: string[] = [];
  const asked = ['bad 600', 'good 300', 'bad 5'].map((diff, at) =>
    set.desk
      .ask(
        { name: `host ${at}`, tasks: ['*'] },
        gradeRequest(set.row, diff, { session_id: diff }),
        'same_host',
      )
      .then(() => answers.push(diff)),
  );
  await eventually(() => expect(begun).toBe(3));
  await set.timers.advance(600);
  await eventually(() => expect(unfinished(set.oracle.db)).toEqual([]));
  expect(ends).toEqual(['5', '300', '600']);
  await set.timers.advance(20 * BUCKET);
  await Promise.all(asked);
  expect(answers).toEqual(['bad 600', 'good 300', 'bad 5']);
  const grades = (await set.verdicts()).map(({ value }) => value).filter(({ mode }) => mode === 'grade');
  expect(new Set(grades.map(({ released_at }) => released_at)).size).toBe(1);
  const chained = grades.toSorted((a, b) => (a.oracle_seq ?? 0) - (b.oracle_seq ?? 0));
  expect(chained.map(({ session_id }) => session_id)).toEqual(answers);
});

/** Two commands of a second, each again in a control run; two and a half baselines; what applying and stopping may take. */
const LONGEST = 4 * 1000 + FLOOR + 24_000 + 10_000;
const CONSTANT = { constant_time: true, timeout_s: 1 };

test('O7 with constant_time nothing tells a fast answer from a slow one: not a hang, and not a PASS', async () => {
  const diffs = [
    'refused 0',
    'bad 7',
    'suite 601',
    'bad 1004',
    'suite 4011',
    'good 5',
    'good 3000',
    'bad 38000',
  ];
  const at = await answered(diffs, LONGEST, CONSTANT);
  for (const [diff, answer] of Object.entries(at))
    expect(answer).toBe(`${diff.startsWith('good') ? 'PASS' : 'FAIL'} ${LONGEST}`);
});

test('O7 with constant_time who waits for a place does not see when the one before ended', async () => {
  const set = await setUpDesk({ task: CONSTANT, desk: { bucketMs: 1, concurrency: 1 } });
  set.oracle.db.sql.prepare('update tasks set baseline_ms = ?').run(BASELINE);
  const jobs = set.runner.jobs.length;
  const asked = ['bad 1', 'bad 2'].map((diff) =>
    set.desk.ask(HOST, gradeRequest(set.row, diff, { session_id: diff }), 'same_host'),
  );
  await eventually(() => expect(unfinished(set.oracle.db)).toHaveLength(1));
  await set.timers.advance(LONGEST - 1);
  expect(set.runner.jobs).toHaveLength(jobs + 1);
  await set.timers.advance(1);
  await eventually(() => expect(unfinished(set.oracle.db)).toEqual([]));
  expect(set.runner.jobs).toHaveLength(jobs + 2);
  await set.timers.advance(LONGEST);
  expect(await Promise.all(asked)).toEqual(['FAIL', 'FAIL']);
});

test('the longest run counts each command, its control run, and signals, of which a differential one runs twice', () => {
  const longest = (change: object) =>
    longestRunMs(TaskDefinition.parse({ ...DEFINITION, timeout_s: 10, ...change }), 100) - 10_250 - 24_000;
  const signal = { name: 'a', kind: 'lint', command: ['true'] };
  expect(longest({})).toBe(40_000);
  expect(longest({ framework: 'pytest' })).toBe(40_000 + 30_000);
  expect(longest({ hidden: ['a', 'b'] })).toBe(60_000);
  expect(longest({ signals: [signal, { ...signal, kind: 'differential' }] })).toBe(70_000 + 24_000);
  expect(longest({ limits: { memory_mb: 64, cpus: 0.5, pids: 10 } })).toBe(40_000 + 24_000);
});

test('whatever a FAIL took, it leaves after that, not before the floor, and not later than twice its own time', () => {
  const property = (constant_time: boolean) =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600_000 }),
        fc.integer({ min: 0, max: 8_000_000 }),
        (baseline, took) => {
          const definition = { ...DEFINITION, constant_time };
          const floor = answerTime('FAIL', definition, baseline, 0);
          const moment = answerTime('FAIL', definition, baseline, took);
          expect(Number.isInteger(Math.log2(moment / floor))).toBe(true);
          expect(moment).toBeGreaterThanOrEqual(took);
          expect(moment).toBeLessThanOrEqual(Math.max(floor, 2 * took));
          expect(answerTime('PASS', definition, baseline, took)).toBe(constant_time ? moment : took);
        },
      ),
    );
  property(false);
  property(true);
  expect(answerTime('FAIL', DEFINITION, 0, 17)).toBe(17);
});
