import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { packageRoot } from './package.ts';
import { createProgram } from './program.ts';
import { reference } from './reference.ts';

const { program } = await createProgram({
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: {},
  cwd: '/',
  clock: Date.now,
  signal: new AbortController().signal,
});

test('docs/reference/cli.md is what the program says (npm run generate)', () => {
  expect(readFileSync(join(packageRoot(), 'docs', 'reference', 'cli.md'), 'utf8')).toBe(reference(program));
});

test('every command takes --json', () => {
  const without = (command: Command): string[] =>
    command.commands.flatMap((child) =>
      child.commands.length > 0
        ? without(child)
        : child.options.some((option) => option.long === '--json')
          ? []
          : [child.name()],
    );
  expect(without(program)).toEqual([]);
});
