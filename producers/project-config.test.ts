import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pipe, put, remove, temporary } from './git/testing.ts';
import { parseProjectConfig, readProjectConfig } from './project-config.ts';

let root: string;
beforeEach(() => {
  root = temporary();
});
afterEach(() => remove(root));

test('.flipstream/config.json is read; .oracle-flip/config.json only when it is absent', () => {
  expect(readProjectConfig(root)).toMatchObject({ file: null, task_id: null, max_attempts: 6, off: false });
  put(root, '.oracle-flip/config.json', '{"task_id":"old","base_commit":null,"max_attempts":3}');
  expect(readProjectConfig(root)).toMatchObject({ task_id: 'old', max_attempts: 3, problem: null });
  put(root, '.flipstream/config.json', '{"task_id":"new","off":true,"future_field":1}');
  expect(readProjectConfig(root)).toMatchObject({
    task_id: 'new',
    max_attempts: 6,
    off: true,
    problem: null,
  });
});

test('max_attempts is capped at 20; wrong values are named and ignored', () => {
  const parsed = (value: object) => parseProjectConfig(JSON.stringify(value), 'f');
  expect(parsed({ max_attempts: 21 })).toMatchObject({ max_attempts: 20, problem: null });
  for (const max_attempts of [0, -1, 2.5, '7', true]) {
    expect(parsed({ max_attempts })).toMatchObject({
      max_attempts: 6,
      problem: expect.stringMatching(/max_attempts/),
    });
  }
  expect(parsed({ task_id: '../x y' })).toMatchObject({
    task_id: null,
    problem: expect.stringMatching(/task_id/),
  });
  expect(parsed({ base_commit: 'HEAD', off: 1 }).problem).toMatch(/base_commit.*off/);
});

test('any text is read without a throw, and never grants more than 20', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const { max_attempts } = parseProjectConfig(text, 'f');
      return max_attempts >= 1 && max_attempts <= 20;
    }),
  );
});

test('a named pipe in place of the config does not hang', () => {
  mkdirSync(join(root, '.flipstream'));
  pipe(join(root, '.flipstream/config.json'));
  expect(readProjectConfig(root).file).toBeNull();
});
