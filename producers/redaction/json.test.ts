import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { sealJson, sealText } from './content.ts';
import { beginning, fairShare } from './cut.ts';
import { redactJson } from './json.ts';

const LIMIT = 64 * 1024;
const SECRET = ['gh', 'p_', 'a1'.repeat(18)].join('');

describe('R2 a redacted record still parses', () => {
  test.prop([fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 100, max: 5000 })])(
    'whatever the value and the limit, within the limit',
    (value, limit) => {
      const { text, cut } = redactJson(value, limit);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit);
      const parsed: unknown = JSON.parse(text);
      if (!cut) expect(parsed).toEqual(JSON.parse(JSON.stringify(value)));
    },
  );

  test.prop([fc.string({ unit: 'binary', maxLength: 300 })])('with any text as value or name', (text) => {
    const sealed = redactJson({ [text]: [text], a: text }, LIMIT);
    expect(sealed.text.isWellFormed()).toBe(true);
    expect(JSON.parse(sealed.text).a).toBeTypeOf('string');
  });
});

test('secrets go, names and structure stay, also under a name that says what it is', () => {
  const value = {
    tool: 'x',
    deep: [{ note: `see ${SECRET} here` }],
    password: 'hunter2hunter',
    token_count: 7,
    id: 'toolu_1',
  };
  expect(JSON.parse(redactJson(value, LIMIT).text)).toEqual({
    tool: 'x',
    deep: [{ note: 'see [REDACTED:github_token] here' }],
    password: '[REDACTED:named_value]',
    token_count: 7,
    id: 'toolu_1',
  });
});

test('a secret as a name goes too', () => {
  expect(redactJson({ [SECRET]: 1 }, LIMIT).text).toBe('{"[REDACTED:github_token]":1}');
});

test('C9 __proto__ stays a name like any other', () => {
  const { text } = redactJson(JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'), LIMIT);
  expect(text).toBe('{"__proto__":{"polluted":true},"constructor":1}');
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('C9 deep nesting, many values and long names stay within the limit and parse', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`);
  const many = Array.from({ length: 100_000 }, (_, index) => index);
  const names = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`${index}${'n'.repeat(1000)}`, 'v']),
  );
  for (const value of [deep, many, names, { a: '\u0000'.repeat(200_000) }]) {
    const { text, cut } = redactJson(value, LIMIT);
    expect(cut).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMIT);
    JSON.parse(text);
  }
});

test('a long value is cut and the short ones beside it are not; hash and length are of the whole', () => {
  const value = { file_path: '/a/b.ts', content: 'word '.repeat(100_000), old: 'short' };
  const sealed = sealJson(value, { hash: (data) => String(data.length), limit: LIMIT });
  const parsed = JSON.parse(sealed.text);
  expect(parsed).toMatchObject({ file_path: '/a/b.ts', old: 'short' });
  expect(parsed.content).toMatch(/word \[CUT:500000\]$/);
  expect(sealed).toMatchObject({
    cut: true,
    bytes: JSON.stringify(value).length,
    hash: String(JSON.stringify(value).length),
  });
  expect(Buffer.byteLength(sealed.text)).toBeGreaterThan(LIMIT * 0.8);
});

test.prop([fc.integer({ min: LIMIT - 60, max: LIMIT + 60 })])('a cut never leaves part of a secret', (at) => {
  const text = `${'a '.repeat(LIMIT).slice(0, at)} ${SECRET} and more ${'b '.repeat(100)}`;
  const sealed = sealText(text, { hash: null, limit: LIMIT });
  expect(sealed.text).not.toContain(SECRET.slice(0, 5));
  expect(Buffer.byteLength(sealed.text)).toBeLessThanOrEqual(LIMIT + 64);
});

test('characters of many bytes count as such', () => {
  const sealed = sealText('\u{1f600} '.repeat(50_000), { hash: null, limit: LIMIT });
  expect(Buffer.byteLength(sealed.text)).toBeLessThanOrEqual(LIMIT + 64);
  expect(sealed.text.isWellFormed()).toBe(true);
});

test.prop([fc.array(fc.nat({ max: 1000 }), { minLength: 1 }), fc.nat({ max: 20_000 })])(
  'shares fill the room and no more',
  (lengths, room) => {
    const share = fairShare(lengths, room);
    const used = lengths.reduce((sum, length) => sum + Math.min(length, share), 0);
    expect(used).toBeLessThanOrEqual(Math.max(room, 0));
  },
);

test('a beginning ends at white space', () => {
  expect(beginning('one two thr')).toBe('one two ');
  expect(beginning('x'.repeat(10_000))).toHaveLength(10_000 - 8192);
});
