import { test } from '@fast-check/vitest';
import fc from 'fast-check';
import { expect } from 'vitest';
import { isoTime } from './time.ts';

const LAST = Date.parse('9999-12-31T23:59:59.999Z');

test.prop([fc.integer({ min: 0, max: LAST })], { numRuns: 5000 })('isoTime is what Date says', (ms) => {
  expect(isoTime(ms)).toBe(new Date(ms).toISOString());
});

test('leap days, ends of years, fractions of a millisecond', () => {
  for (const text of [
    '1970-01-01T00:00:00.000Z',
    '2000-02-29T23:59:59.999Z',
    '2026-12-31T23:59:59.999Z',
    '2100-03-01T00:00:00.000Z',
  ])
    expect(isoTime(Date.parse(text))).toBe(text);
  expect(isoTime(Date.parse('2026-01-01T00:00:00.000Z') + 0.7)).toBe('2026-01-01T00:00:00.000Z');
});
