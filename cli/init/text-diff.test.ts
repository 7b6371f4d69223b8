import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from '@fast-check/vitest';
import fc from 'fast-check';
import { expect, onTestFinished } from 'vitest';
import { unifiedDiff } from './text-diff.ts';

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
  .map((lines) => lines.map((line) => `${line}\n`).join(''));

test.prop([text, text])(
  'a diff holds every line that goes and comes, and as many as the lengths say',
  (before, after) => {
    const marks = unifiedDiff(before, after, '/f')
      .split('\n')
      .slice(2)
      .map((line) => line[0]);
    const count = (mark: string) => marks.filter((each) => each === mark).length;
    expect(count('+') - count('-')).toBe(after.split('\n').length - before.split('\n').length);
    expect(unifiedDiff(before, after, '/f') === '').toBe(before === after);
  },
);

test('shows three lines of context and skips the rest', () => {
  const before = [...'abcdefghij'].map((line) => `${line}\n`).join('');
  expect(unifiedDiff(before, before.replace('f\n', 'f\nnew\n'), '/f')).toBe(
    '--- a/f\n+++ b/f\n@@ -4,6 +4,7 @@\n d\n e\n f\n+new\n g\n h\n i\n',
  );
});

const far = [...'abcdefghijklmnop'].map((line) => `${line}\n`).join('');

test.each([
  ['a file that is not there yet', null, '{\n  "hooks": {}\n}\n'],
  ['a file that goes', '{\n  "hooks": {}\n}\n', null],
  ['one line', 'a\n', 'b\n'],
  ['two places', far, far.replace('b\n', '').replace('o\n', 'o\nnew\n')],
  ['an end without a line feed', '{}', '{\n}\n'],
  ['the same the other way', 'a\nb\n', 'a\nb'],
  ['carriage returns', 'a\r\nb\r\n', 'a\r\nc\r\nb\r\n'],
])('git applies the diff of %s', (_, before, after) => {
  const root = mkdtempSync(join(tmpdir(), 'flipstream-diff-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const file = join(root, 'my settings.json');
  if (before !== null) writeFileSync(file, before);
  const git = (...args: string[]) =>
    execFileSync('git', ['apply', ...args], {
      cwd: root,
      input: unifiedDiff(before, after, '/my settings.json'),
    });
  git('--check');
  git();
  expect(existsSync(file) ? readFileSync(file, 'utf8') : null).toBe(after);
});
