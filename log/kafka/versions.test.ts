import { expect, test } from 'vitest';
import { notSpoken } from './versions.ts';

const ANY = { minVersion: 0, maxVersion: 99 };
const modern = Object.fromEntries(Array.from({ length: 40 }, (_, key) => [key, ANY]));

test('a broker that takes what we send lacks nothing; one that is too old, or too new, is told by the request', () => {
  expect(notSpoken(modern)).toEqual([]);
  expect(notSpoken({ ...modern, 0: { minVersion: 0, maxVersion: 6 } })).toEqual(['Produce']);
  expect(notSpoken({ ...modern, 1: { minVersion: 12, maxVersion: 17 } })).toEqual(['Fetch']);
  const { 26: _, ...without } = modern;
  expect(notSpoken(without)).toEqual(['EndTxn']);
});
