import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { HOST } from './real/cheating/from-the-host.ts';
import { cheatingPage } from './support/cheating-page.ts';

const ROOT = new URL('../', import.meta.url);

test('the page tells what the tests play: -u writes it anew', async () => {
  await expect(cheatingPage()).toMatchFileSnapshot(new URL('docs/reference/cheating.md', ROOT).pathname);
});

test.each(HOST.flatMap(({ name, tried }) => tried.map((where) => [name, ...where] as const)))(
  'there is a test of: %s (%s)',
  (_, file, title) => {
    const text = readFileSync(new URL(file, ROOT), 'utf8');
    // Whole, as a name stands: not in a comment, nor as a part of another.
    expect(["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`))).toBe(true);
  },
);

test('each act of a host is told once, and is tried somewhere', () => {
  expect(new Set(HOST.map(({ name }) => name)).size).toBe(HOST.length);
  expect(HOST.filter(({ tried }) => tried.length === 0)).toEqual([]);
});
