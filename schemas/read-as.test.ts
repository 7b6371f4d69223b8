import { expect, test } from 'vitest';
import { z } from 'zod';
import { readAs, readJsonAs } from './read-as.ts';

const Author = z.strictObject({
  name: z.string().min(1),
  tags: z.array(z.string()).min(1),
  port: z.number().int().min(1).max(65_535),
  url: z.url().optional(),
  kind: z.enum(['a', 'b']).default('a'),
  id: z.string().regex(/^x/, 'must begin with x').default('x'),
  run: z.union([z.string(), z.array(z.string())], { error: 'must be a line or a list' }).default(''),
});

const GOOD = { name: 'n', tags: ['t'], port: 1 };

const WRONG: [string, unknown, string][] = [
  ['no object', [], 'it must be an object with fields'],
  ['a field left out', { ...GOOD, name: undefined }, 'name is missing: it must be text'],
  ['another kind', { ...GOOD, name: 3 }, 'name must be text'],
  ['an empty text', { ...GOOD, name: '' }, 'name must not be empty'],
  ['an empty list', { ...GOOD, tags: [] }, 'tags must not be an empty list'],
  ['inside a list', { ...GOOD, tags: ['a', 1] }, 'tags[1] must be text'],
  ['too small', { ...GOOD, port: 0 }, 'port must be at least 1'],
  ['too large', { ...GOOD, port: 70_000 }, 'port must not be above 65535'],
  ['no whole number', { ...GOOD, port: 1.5 }, 'port must be a whole number'],
  ['no URL', { ...GOOD, url: 'nowhere' }, 'url must be a URL'],
  ['another word', { ...GOOD, kind: 'c' }, 'kind must be "a" or "b"'],
  ['an unknown field', { ...GOOD, nmae: 1 }, 'nmae is no field: correct its name or remove it'],
  ['the schema\u2019s own words', { ...GOOD, id: 'y' }, 'id must begin with x'],
  ['a union', { ...GOOD, run: 1 }, 'run must be a line or a list'],
  ['several', { tags: ['t'], port: 'x' }, 'name is missing: it must be text; port must be a number'],
];

test.each(WRONG)('one line that names the field and what to put there: %s', (_, value, problem) => {
  expect(readAs(Author, value)).toMatchObject({ ok: false, problem });
});

test('what is right is read, defaults and all', () => {
  expect(readAs(Author, GOOD)).toEqual({ ok: true, data: { ...GOOD, kind: 'a', id: 'x', run: '' } });
});

test('what is no JSON, or cannot be had at all, is a problem in words', () => {
  expect(readJsonAs(Author, () => JSON.stringify(GOOD))).toMatchObject({ ok: true });
  expect(readJsonAs(Author, () => '{')).toMatchObject({ ok: false, problem: expect.stringMatching(/JSON/) });
  expect(readJsonAs(Author, () => '{"name": hunter2}')).toMatchObject({
    problem: 'it stops being JSON at line 1, column 10',
    cause: expect.not.objectContaining({ message: expect.stringContaining('hunter2') }),
  });
  const gone = () => {
    throw new Error('EACCES: permission denied');
  };
  expect(readJsonAs(Author, gone)).toMatchObject({ ok: false, problem: 'EACCES: permission denied' });
});
