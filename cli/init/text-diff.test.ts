import { test } from '@fast-check/vitest';
import fc from 'fast-check';
import { expect } from 'vitest';
import { unifiedDiff } from './text-diff.ts';

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
  .map((lines) => lines.map((line) => `${line}\n`).join(''));

test.prop([text, text])(
  'a diff holds every line that goes and comes, and as many as the lengths say',
  (before, after) => {
    const marks = unifiedDiff(before, after, 'f')
      .split('\n')
      .slice(2)
      .map((line) => line[0]);
    const count = (mark: string) => marks.filter((each) => each === mark).length;
    expect(count('+') - count('-')).toBe(after.split('\n').length - before.split('\n').length);
    expect(unifiedDiff(before, after, 'f') === '').toBe(before === after);
  },
);

test('shows three lines of context and skips the rest', () => {
  const before = [...'abcdefghij'].map((line) => `${line}\n`).join('');
  expect(unifiedDiff(before, before.replace('f\n', 'f\nnew\n'), 'f')).toBe(
    '--- f\n+++ f\n@@ -4 +4 @@\n d\n e\n f\n+new\n g\n h\n i\n',
  );
});
