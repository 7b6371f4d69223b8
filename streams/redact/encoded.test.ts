import { expect, test } from 'vitest';
import { encodedRuns } from './encoded.ts';

test('a percent-encoded run of any length is read in pieces, in a time that its length allows', () => {
  const bytes = 5 * 2 ** 20;
  const start = performance.now();
  const runs = encodedRuns('%41'.repeat(bytes));
  // Read to its end from each piece on, it takes forty times as long.
  expect(performance.now() - start).toBeLessThan(4000);
  expect(runs.every(({ how }) => how === 'url')).toBe(true);
  expect(runs.reduce((sum, { run }) => sum + run.length, 0)).toBe(3 * bytes);
});
