import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byContent, gradeRequest, runResult } from '../testing.ts';
import { failTime } from './fail-time.ts';
import { eventually, HOST, setUpDesk } from './testing.ts';

const BASELINE = 401;
const FLOOR = 1003;

/** Asks for each at once. A diff says in its last word how long its run takes. @returns when each answer came */
async function answered(diffs: readonly string[], until: number): Promise<Record<string, string>> {
  const set = await setUpDesk({ desk: { bucketMs: 1, concurrency: diffs.length } });
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
  await set.timers.advance(until);
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

test('whatever a FAIL took, it leaves after that, not before the floor, and not later than twice its own time', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 600_000 }),
      fc.integer({ min: 0, max: 8_000_000 }),
      (baseline, took) => {
        const floor = failTime(baseline, 0);
        const moment = failTime(baseline, took);
        expect(Number.isInteger(Math.log2(moment / floor))).toBe(true);
        expect(moment).toBeGreaterThanOrEqual(took);
        expect(moment).toBeLessThanOrEqual(Math.max(floor, 2 * took));
      },
    ),
  );
  expect(failTime(0, 17)).toBe(17);
});
