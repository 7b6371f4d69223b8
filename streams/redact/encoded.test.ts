import { expect, test } from 'vitest';
import { encodedRuns } from './encoded.ts';

// Read to its end from each piece on it takes minutes, which the time of a test does not allow.
test('a percent-encoded run of any length is read in pieces', () => {
  const bytes = 20 * 2 ** 20;
  const runs = encodedRuns('%41'.repeat(bytes));
  expect(runs.every(({ how }) => how === 'url')).toBe(true);
  expect(runs.reduce((sum, { run }) => sum + run.length, 0)).toBe(3 * bytes);
});
