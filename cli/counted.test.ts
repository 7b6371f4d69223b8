import { expect, test } from 'vitest';
import { counted } from './counted.ts';

test('one of a thing is no plural, none and many are', () => {
  expect([0, 1, 2].map((n) => counted(n, 'event'))).toEqual(['0 events', '1 event', '2 events']);
  const waiting = [1, 2].map((n) => counted(n, 'entry waits', 'entries wait'));
  expect(waiting).toEqual(['1 entry waits', '2 entries wait']);
});
