import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findRepository } from './repository.ts';
import { findGit, type Git, GitError, runGit } from './run.ts';
import { PATH, type Planted, put, remove, repository, sh, temporary } from './testing.ts';

let root: string;
let repo: Planted;
beforeEach(() => {
  root = temporary();
  repo = repository(root);
});
afterEach(() => remove(root));

const git = (signal = AbortSignal.timeout(20_000)): Git => ({ bin: findGit(PATH, repo.dir), signal });
const fault = async (work: Promise<unknown>) => {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  return error instanceof GitError ? error.fault : error;
};

/** A git that prints its environment: what a child really gets. */
function nosy(): Git {
  put(root, 'tools/git', '#!/bin/sh\n/usr/bin/env\n');
  chmodSync(join(root, 'tools/git'), 0o755);
  return { bin: findGit(join(root, 'tools'), repo.dir), signal: AbortSignal.timeout(20_000) };
}

test('git gets the hermetic environment and nothing of ours', async () => {
  const out = (await runGit(nosy(), [], { gitDir: join(repo.dir, '.git') })).toString();
  const names = out.split('\n').map((line) => line.split('=')[0]);
  for (const line of [
    'GIT_CONFIG_GLOBAL=/dev/null',
    'GIT_CONFIG_NOSYSTEM=1',
    'GIT_NO_REPLACE_OBJECTS=1',
    'GIT_NO_LAZY_FETCH=1',
  ]) {
    expect(out).toContain(`${line}\n`);
  }
  expect(names).not.toContain('HOME');
  expect(names.filter((name) => name === 'GIT_EXTERNAL_DIFF' || name === 'NODE_OPTIONS')).toEqual([]);
});

test('replaced objects are not believed', async () => {
  const fake = sh(repo.dir, ['hash-object', '-w', '--stdin'], 'fake');
  sh(repo.dir, ['replace', sh(repo.dir, ['rev-parse', 'HEAD:a.txt']), fake]);
  const out = await runGit(git(), ['cat-file', '-p', 'HEAD:a.txt'], { gitDir: join(repo.dir, '.git') });
  expect(out.toString()).toBe('one\n');
});

test('bounded in time and output; failures carry what git said', async () => {
  const gitDir = join(repo.dir, '.git');
  expect(await fault(runGit(git(AbortSignal.abort()), ['version'], { gitDir }))).toBe('timeout');
  expect(await fault(runGit(git(), ['cat-file', '-p', 'HEAD'], { gitDir, maxBytes: 10 }))).toBe('too_large');
  expect(await fault(runGit(git(), ['cat-file', '-p', 'nothing'], { gitDir }))).toBe('failed');
  expect(await fault(runGit({ ...git(), bin: '/nowhere/git' }, ['version'], { gitDir }))).toBe('no_git');
  await expect(runGit(git(), ['cat-file', '-p', 'nothing'], { gitDir })).rejects.toThrow(/nothing/);
});

test('git is looked for outside the project only', () => {
  expect(() => findGit(['.', 'bin'].join(delimiter), repo.dir)).toThrow(/not found/);
  put(repo.dir, 'bin/git', '#!/bin/sh\n');
  chmodSync(join(repo.dir, 'bin/git'), 0o755);
  symlinkSync(join(repo.dir, 'bin'), join(root, 'alias'));
  expect(() => findGit([join(repo.dir, 'bin'), join(root, 'alias')].join(delimiter), repo.dir)).toThrow();
});

test('a repository is found from inside, never through core.worktree, never in a git directory', () => {
  sh(repo.dir, ['config', 'core.worktree', root]);
  const found = findRepository(join(repo.dir, 'src'));
  expect(found).toEqual({ top: repo.dir, gitDir: join(repo.dir, '.git'), commonDir: join(repo.dir, '.git') });
  mkdirSync(join(root, 'fake/.git'), { recursive: true });
  expect(findRepository(join(root, 'fake'))).toBeNull();
  put(root, 'pointer/.git', 'gitdir: ../nowhere\n');
  expect(findRepository(join(root, 'pointer'))).toBeNull();
});
