import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFile, replaceFile } from './files.ts';
import { temporaryDirectory } from './testing.ts';

test('what a killed process left half written is in nobody’s way, not even of one with its number', () => {
  const dir = temporaryDirectory();
  // in a container every service has the same process id
  for (let at = 0; at < 100; at++) {
    writeFileSync(join(dir, `made.${process.pid}.${at}.tmp`), 'half');
    writeFileSync(join(dir, `replaced.${process.pid}.${at}.tmp`), 'half');
  }
  expect(createFile(join(dir, 'made'), 'whole')).toBe(true);
  replaceFile(join(dir, 'replaced'), 'whole');
  expect(readFileSync(join(dir, 'made'), 'utf8')).toBe('whole');
  expect(readFileSync(join(dir, 'replaced'), 'utf8')).toBe('whole');
});

test('a file is made once, and nothing else lies beside it', () => {
  const dir = temporaryDirectory();
  expect(createFile(join(dir, 'a'), 'first')).toBe(true);
  expect(createFile(join(dir, 'a'), 'second')).toBe(false);
  expect(readFileSync(join(dir, 'a'), 'utf8')).toBe('first');
  replaceFile(join(dir, 'a'), 'third');
  expect(readFileSync(join(dir, 'a'), 'utf8')).toBe('third');
  mkdirSync(join(dir, 'folder'));
  expect(() => replaceFile(join(dir, 'folder'), 'a file')).toThrow();
  expect(readdirSync(dir).sort()).toEqual(['a', 'folder']);
});
