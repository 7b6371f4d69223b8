import { expect, test } from 'vitest';
import { mapStrings, stringsOf } from './strings.ts';

test('a bare number or word is text, though it would be JSON', () => {
  for (const text of ['4111111111111111', 'true', ' {"a": 1}']) {
    expect(stringsOf(text)).toEqual([text]);
    expect(mapStrings(text, () => 'x')).toBe('x');
  }
  expect(stringsOf('{"a": ["b"]}')).toEqual(['a', 'b']);
  expect(mapStrings('["b", 1.0]', () => 'x')).toBe('["x", 1.0]');
});

test('a string ends at the quote that no backslash holds', () => {
  const values = ['\\', '', '"', '\\"', 'a\\', 'b'];
  expect(stringsOf(JSON.stringify(values))).toEqual(values);
  expect(mapStrings(JSON.stringify(values), (text) => `${text}!`)).toBe(
    JSON.stringify(values.map((text) => `${text}!`)),
  );
});
