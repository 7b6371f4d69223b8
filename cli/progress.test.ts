import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { type Progress, withProgress } from './progress.ts';
import { atOnce, inSteps, mapping } from './steps.ts';

const terminal = (isTTY = true) => Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY });
const ERASE = '\r\u001b[2K';

afterEach(() => void vi.useRealTimers());

/** A clock, and work that takes as long as it says, during which the terminal has its turns. */
function taking(ms: number) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let now = 500;
  const pass = (more: number) => {
    now += more;
    vi.advanceTimersByTime(250);
  };
  return { now: () => now, pass, work: async () => pass(ms) };
}

test('a terminal is told after two seconds what is being done, and nothing of it stays', async () => {
  const stderr = terminal();
  const { now, pass } = taking(0);
  const work = async ({ update }: Progress) => {
    update('7 events');
    pass(1999);
    expect(stderr.read()).toBeNull();
    pass(1);
    expect(stderr.read()).toBe(`${ERASE}Checking … 2 s, 7 events`);
    pass(10_000);
    expect(stderr.read()).toBe(`${ERASE}Checking … 12 s, 7 events`);
  };
  await withProgress(stderr, 'Checking', work, now);
  expect(stderr.read()).toBe(ERASE);
});

test('nothing is told of what took less, nor to a pipe', async () => {
  for (const [stderr, ms] of [
    [terminal(), 1999],
    [terminal(false), 60_000],
  ] as const) {
    const { now, work } = taking(ms);
    await withProgress(stderr, 'Checking', work, now);
    expect(stderr.read()).toBeNull();
  }
});

test('work in steps gives the same as at once, and lets others have their turn', async () => {
  const numbers = Array.from({ length: 400 }, (_, n) => n);
  const spin = () => {
    for (const until = performance.now() + 0.5; performance.now() < until; );
  };
  const double = (n: number) => {
    spin();
    return n * 2;
  };
  const work = () => mapping(numbers, 'numbers doubled', double);
  const told: string[] = [];
  let turns = 0;
  const others = setInterval(() => turns++, 1);
  const made = await inSteps(work(), { update: (state) => told.push(state) });
  clearInterval(others);
  expect(made).toEqual(numbers.map((n) => n * 2));
  expect(atOnce(work())).toEqual(made);
  expect(told.length).toBeGreaterThan(1);
  expect(told.at(-1)).toMatch(/^\d+ of 400 numbers doubled$/);
  expect(turns).toBeGreaterThan(1);
});
