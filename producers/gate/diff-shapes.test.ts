import { mkdirSync, rmSync, truncateSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  commitAll,
  PATH,
  type Planted,
  pipe,
  put,
  remove,
  repository,
  sh,
  temporary,
} from '../git/testing.ts';
import { buildDiff } from './diff.ts';

let root: string;
let repo: Planted;
beforeEach(() => {
  root = temporary();
  repo = repository(root);
});
afterEach(() => remove(root));

const build = (over: Partial<Parameters<typeof buildDiff>[0]> = {}) =>
  buildDiff({ worktree: repo.dir, baseCommit: repo.base, path: PATH, ...over });
const text = async (over: Partial<Parameters<typeof buildDiff>[0]> = {}) => {
  const built = await build(over);
  expect(built.missing).toBeUndefined();
  return built.diff.toString('latin1');
};
/** An absent diff is empty, hashed as such, and says why. */
async function missing(over: Partial<Parameters<typeof buildDiff>[0]> = {}) {
  const built = await build(over);
  expect(built.diff.length).toBe(0);
  return built.missing;
}

describe('shapes of repository', () => {
  test('no commits: everything is new; an unknown base is no base', async () => {
    const dir = join(root, 'empty');
    mkdirSync(dir);
    sh(dir, ['init', '-q']);
    put(dir, 'x', 'x\n');
    expect(await text({ worktree: dir, baseCommit: null })).toContain('+++ b/x');
    expect(await missing({ worktree: dir, baseCommit: repo.base })).toBe('no_base');
    expect(await missing({ baseCommit: '--output=/dev/null' })).toBe('no_base');
  });

  test('not a repository, a deleted .git, a vanished folder, a .git that is a pipe', async () => {
    expect(await missing({ worktree: root })).toBe('not_a_repository');
    expect(await missing({ worktree: join(root, 'gone') })).toBe('not_a_repository');
    rmSync(join(repo.dir, '.git'), { recursive: true });
    expect(await missing()).toBe('not_a_repository');
    pipe(join(repo.dir, '.git'));
    expect(await missing()).toBe('not_a_repository');
  });

  test('a new .git in place of the deleted one', async () => {
    rmSync(join(repo.dir, '.git'), { recursive: true });
    sh(repo.dir, ['init', '-q']);
    commitAll(repo.dir);
    expect(await missing()).toBe('no_base');
  });

  test('git worktree: the linked tree is read with its own index', async () => {
    const linked = join(root, 'linked');
    sh(repo.dir, ['worktree', 'add', '-q', linked, '-b', 'side']);
    put(linked, 'a.txt', 'linked\n');
    put(linked, 'build/forced', 'f\n');
    sh(linked, ['add', '-f', 'build/forced']);
    const diff = await text({ worktree: linked });
    expect(diff).toMatch(/\+linked/);
    expect(diff).toContain('build/forced');
    expect(await text()).toBe('');
  });

  test('shallow, sparse, partial and alternate clones', async () => {
    const url = `file://${repo.dir}`;
    sh(repo.dir, ['config', 'uploadpack.allowFilter', 'true']);
    for (const how of [['--depth=1'], ['--sparse'], ['--filter=blob:none'], ['--shared']]) {
      const dir = join(root, how[0] ?? '');
      sh(root, ['clone', '-q', ...how, how[0] === '--shared' ? repo.dir : url, '--', dir]);
      expect(await text({ worktree: dir })).toBe('');
      put(dir, 'a.txt', 'two\n');
      expect(await text({ worktree: dir })).toContain('+two');
    }
  });

  test('relative alternates of alternates are followed', async () => {
    sh(root, ['clone', '-q', '--shared', repo.dir, 'one']);
    put(root, 'one/.git/objects/info/alternates', '../../../repo/.git/objects\n');
    sh(root, ['clone', '-q', '--shared', join(root, 'one'), 'two']);
    put(root, 'two/.git/objects/info/alternates', '../../../one/.git/objects\n');
    expect(await text({ worktree: join(root, 'two') })).toBe('');
  });

  test('submodules: the commit they are at, nothing when they were never fetched', async () => {
    const inner = repository(root, 'inner');
    sh(repo.dir, ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'sub']);
    repo.base = commitAll(repo.dir);
    expect(await text()).toBe('');
    put(repo.dir, 'sub/a.txt', 'dirty\n');
    expect(await text()).toBe('');
    const next = commitAll(join(repo.dir, 'sub'));
    expect(await text()).toContain(`+Subproject commit ${next}`);
    const bare = join(root, 'unfetched');
    sh(root, ['clone', '-q', repo.dir, bare]);
    expect(await text({ worktree: bare })).toBe('');
  });

  test('nested repositories: a commit is a link, without one its files are new files', async () => {
    const nested = repository(repo.dir, 'nested');
    sh(repo.dir, ['init', '-q', 'bare-start']);
    put(repo.dir, 'bare-start/x', 'x\n');
    const diff = await text();
    expect(diff).toContain(`+Subproject commit ${nested.base}`);
    expect(diff).toContain('b/bare-start/x');
    expect(diff).not.toContain('.git/');
  });

  test('a repository of SHA-256 ids, and a folder with odd characters above it', async () => {
    const odd = repository(root, 'a "b"\n#c', ['--object-format=sha256']);
    put(odd.dir, 'a.txt', 'two\n');
    expect(odd.base).toHaveLength(64);
    expect(await text({ worktree: odd.dir, baseCommit: odd.base })).toContain('+two');
  });

  test('a split index, an intent to add, a merge conflict', async () => {
    sh(repo.dir, ['update-index', '--split-index']);
    put(repo.dir, 'build/forced', 'f\n');
    sh(repo.dir, ['add', '-f', 'build/forced']);
    put(repo.dir, 'later', 'l\n');
    sh(repo.dir, ['add', '-N', 'later']);
    expect(await text()).toMatch(/build\/forced[\s\S]*later/);
    commitAll(repo.dir);
    sh(repo.dir, ['checkout', '-q', '-b', 'x', repo.base]);
    put(repo.dir, 'later', 'other\n');
    commitAll(repo.dir);
    expect(() => sh(repo.dir, ['merge', '-q', 'main'])).toThrow();
    expect(await text()).toContain('+<<<<<<<');
  });

  test('flags that hide a change from git do not hide it here', async () => {
    sh(repo.dir, ['update-index', '--assume-unchanged', 'a.txt']);
    sh(repo.dir, ['update-index', '--skip-worktree', 'src/b.py']);
    put(repo.dir, 'a.txt', 'two\n');
    put(repo.dir, 'src/b.py', 'three\n');
    expect(await text()).toMatch(/\+two[\s\S]*\+three/);
  });
});

describe('limits', () => {
  test('a file too large, all too large, a diff too large: empty and marked', async () => {
    put(repo.dir, 'huge', '');
    truncateSync(join(repo.dir, 'huge'), 9 * 1024 * 1024);
    expect(await missing()).toBe('file_too_large');
    const limits = { fileBytes: 1000, totalBytes: 1500 };
    unlinkSync(join(repo.dir, 'huge'));
    put(repo.dir, 'x', 'x'.repeat(900));
    put(repo.dir, 'y', 'y'.repeat(900));
    expect(await missing({ limits })).toBe('too_large');
    put(repo.dir, 'y', '');
    put(repo.dir, 'a.txt', 'y\n'.repeat(400));
    expect(await missing({ limits })).toBe('too_large');
  });

  test('a large file of the base that did not change is no obstacle', async () => {
    put(repo.dir, 'asset', 'z'.repeat(5000));
    repo.base = commitAll(repo.dir);
    const limits = { fileBytes: 1000, totalBytes: 100_000 };
    expect(await text({ limits })).toBe('');
    put(repo.dir, 'asset', 'z'.repeat(5001));
    expect(await missing({ limits })).toBe('file_too_large');
  });

  test('out of time: a pipe where git reads its patterns hangs git, not us', async () => {
    pipe(join(repo.dir, 'src', '.gitignore'));
    expect(await missing({ deadlineMs: 400 })).toBe('timeout');
  });

  test('no git on the path', async () => {
    expect(await missing({ path: root })).toBe('no_git');
  });
});
