import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../schemas/parse-json.ts';
import type { Command, Framework } from './definition.ts';

export interface Guess {
  framework: Framework | null;
  suite: Command;
  remark: string | null;
}

const Package = z.looseObject({
  devDependencies: z.record(z.string(), z.unknown()).default({}),
  dependencies: z.record(z.string(), z.unknown()).default({}),
});

/** What tests a repository, read off its files. @param tests paths of tests. */
export function frameworkOf(repository: string, tests: readonly string[]): Guess {
  const has = (name: string) => existsSync(join(repository, name));
  const written = (suffix: RegExp) => tests.some((path) => suffix.test(path));
  if (written(/\.py$/)) return { framework: 'pytest', suite: [topOf(tests)], remark: null };
  if (written(/_test\.go$/) && has('go.mod')) return { framework: 'go', suite: ['./...'], remark: null };
  if (written(/\.rs$/) && has('Cargo.toml'))
    return { framework: 'cargo', suite: ['--workspace'], remark: null };
  if (written(/\.[cm]?[jt]sx?$/)) return ofNode(repository, tests);
  return {
    framework: null,
    suite: 'false',
    remark: 'What runs the tests could not be read off the repository: write suite and hidden by hand.',
  };
}

function ofNode(repository: string, tests: readonly string[]): Guess {
  const path = join(repository, 'package.json');
  const read = Package.safeParse(existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : {});
  const installed = read.success ? { ...read.data.dependencies, ...read.data.devDependencies } : {};
  const known = (['vitest', 'jest'] as const).find((name) => name in installed);
  if (known) return { framework: known, suite: [topOf(tests)], remark: null };
  return { framework: 'node:test', suite: [`${topOf(tests)}/**/*.test.*`], remark: null };
}

/** The folder at the top of the tests. */
function topOf(tests: readonly string[]): string {
  const [first = '.'] = tests;
  return first.includes('/') ? (first.split('/')[0] ?? '.') : '.';
}
