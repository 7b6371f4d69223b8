import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../schemas/hash.ts';
import { historyVisible, rootCommit } from './history.ts';
import { remoteUrlHash, withoutCredentials } from './remote.ts';
import { findRepository } from './repository.ts';
import { findGit, type Git } from './run.ts';
import { createScratch, readRepositoryConfig, removeScratch } from './scratch.ts';
import { commitAll, PATH, type Planted, put, remove, repository, sh, temporary } from './testing.ts';

let root: string;
let repo: Planted;
beforeEach(() => {
  root = temporary();
  repo = repository(root);
  rmSync(join(repo.dir, '.git/logs'), { recursive: true });
});
afterEach(() => remove(root));

async function inScratch<T>(dir: string, work: (git: Git, scratch: string) => Promise<T>): Promise<T> {
  const found = findRepository(dir);
  if (!found) throw new Error('no repository');
  const git: Git = { bin: findGit(PATH, dir), signal: AbortSignal.timeout(20_000) };
  const scratch = createScratch(found, await readRepositoryConfig(git, found), 'sha1');
  try {
    return await work(git, scratch);
  } finally {
    removeScratch(scratch);
  }
}

function visible(dir = repo.dir, base = repo.base): Promise<boolean> {
  const found = findRepository(dir);
  if (!found) throw new Error('no repository');
  return inScratch(dir, (git, scratch) => historyVisible(git, found, scratch, base));
}
const roots = (dir = repo.dir, base = repo.base) =>
  inScratch(dir, (git, scratch) => rootCommit(git, scratch, base));

describe('history_visible', () => {
  test('the base and its ancestors only, loose or packed, tags on ancestors: not visible', async () => {
    expect(await visible()).toBe(false);
    sh(repo.dir, ['tag', '-a', 'v1', '-m', 'first', 'HEAD~1']);
    sh(repo.dir, ['tag', 'light']);
    expect(await visible()).toBe(false);
    sh(repo.dir, ['repack', '-adq']);
    expect(await visible()).toBe(false);
  });

  test('a newer commit on another branch, in a remote-tracking ref, under a tag, in the stash', async () => {
    sh(repo.dir, ['checkout', '-q', '-b', 'fix']);
    put(repo.dir, 'a.txt', 'fixed\n');
    const fix = commitAll(repo.dir);
    sh(repo.dir, ['checkout', '-q', 'main']);
    expect(await visible()).toBe(true);
    sh(repo.dir, ['branch', '-qD', 'fix']);
    for (const ref of ['refs/remotes/origin/fix', 'refs/tags/v2', 'refs/stash', 'refs/strange/x']) {
      sh(repo.dir, ['update-ref', ref, fix]);
      expect([ref, await visible()]).toEqual([ref, true]);
      sh(repo.dir, ['update-ref', '-d', ref]);
    }
  });

  test('no ref at all leads to it: in the reflog, dangling, packed, or only staged once', async () => {
    put(repo.dir, 'a.txt', 'fixed\n');
    commitAll(repo.dir);
    sh(repo.dir, ['reset', '-q', '--hard', repo.base]);
    expect(await visible()).toBe(true);
    rmSync(join(repo.dir, '.git/logs'), { recursive: true });
    expect(await visible()).toBe(true);
    sh(repo.dir, ['prune', '--expire=now']);
    sh(repo.dir, ['gc', '-q', '--prune=now']);
    rmSync(join(repo.dir, '.git/ORIG_HEAD'), { force: true });
    sh(repo.dir, ['gc', '-q', '--prune=now']);
    expect(await visible()).toBe(false);
    sh(repo.dir, ['hash-object', '-w', '--stdin'], 'the fix');
    expect(await visible()).toBe(true);
  });

  test('borrowed objects count: a shared clone of a repository that has the fix', async () => {
    sh(root, ['clone', '-q', '--shared', repo.dir, 'shared']);
    expect(await visible(join(root, 'shared'))).toBe(false);
    sh(repo.dir, ['hash-object', '-w', '--stdin'], 'the fix');
    expect(await visible(join(root, 'shared'))).toBe(true);
  });

  test('a base that HEAD has left behind makes the commits since visible', async () => {
    put(repo.dir, 'a.txt', 'two\n');
    commitAll(repo.dir);
    expect(await visible()).toBe(true);
  });
});

describe('identity of a repository', () => {
  test('the oldest root, whatever joined later; none in a shallow clone', async () => {
    const first = sh(repo.dir, ['rev-list', '--max-parents=0', 'HEAD']);
    expect(await roots()).toBe(first);
    const date = '2001-01-01T00:00:00Z';
    const tree = sh(repo.dir, ['rev-parse', 'HEAD^{tree}']);
    const old = sh(
      root,
      ['-C', repo.dir, 'hash-object', '-w', '-t', 'commit', '--stdin'],
      [
        `tree ${tree}`,
        `author a <a> ${Date.parse(date) / 1000} +0000`,
        `committer a <a> ${Date.parse(date) / 1000} +0000`,
        '',
        'other root\n',
      ].join('\n'),
    );
    const merged = sh(repo.dir, ['commit-tree', tree, '-p', repo.base, '-p', old, '-m', 'join']);
    expect(await roots(repo.dir, merged)).toBe(old);
    sh(root, ['clone', '-q', '--depth=1', `file://${repo.dir}`, 'shallow']);
    expect(await roots(join(root, 'shallow'))).toBeNull();
  });

  test('the hash of the remote holds no credentials and prefers origin', () => {
    const plain = sha256('https://host/team/repo.git');
    const config = new Map([
      ['remote.a.url', 'https://other/x'],
      ['remote.origin.url', 'https://me:ghp_secret@host/team/repo.git'],
    ]);
    expect(remoteUrlHash(config)).toBe(plain);
    expect(remoteUrlHash(new Map([['remote.a.b.url', 'https://t@host/team/repo.git']]))).toBe(plain);
    expect(remoteUrlHash(new Map())).toBeNull();
    expect(withoutCredentials('git@host:team/repo.git')).toBe('git@host:team/repo.git');
    expect(withoutCredentials('ssh://git:p@w@host/x@y')).toBe('ssh://host/x@y');
  });
});
