import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../schemas/hash.ts';
import {
  commitAll,
  PATH,
  type Planted,
  put,
  remove,
  repository,
  sh,
  temporary,
  treeAfter,
  treeNow,
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

/** Builds the diff, requires one, and requires that it turns a clean base into the working tree. */
async function faithful(over: Partial<Parameters<typeof buildDiff>[0]> = {}): Promise<string> {
  const built = await build(over);
  expect(built.missing).toBeUndefined();
  expect(built.diffHash).toBe(sha256(built.diff));
  expect(treeAfter(repo.dir, repo.base, built.diff, root)).toBe(treeNow(over.worktree ?? repo.dir));
  return built.diff.toString('latin1');
}

describe('the diff is against the base whatever the agent did since', () => {
  test('nothing changed: empty, and not missing', async () => {
    expect(await faithful()).toBe('');
  });

  test('edited, deleted, new, in a subdirectory, ignored ones left out', async () => {
    put(repo.dir, 'a.txt', 'two\n');
    rmSync(join(repo.dir, 'src/b.py'));
    put(repo.dir, 'lib/new.py', 'x = 1\n');
    put(repo.dir, 'noise.log', 'no');
    put(repo.dir, 'build/out', 'no');
    const diff = await faithful({ worktree: join(repo.dir, 'lib') });
    expect(diff).toContain('b/lib/new.py');
    expect(diff).not.toMatch(/noise\.log|build\/out/);
  });

  test('staged, unstaged, committed, on another branch or detached: the same diff', async () => {
    put(repo.dir, 'a.txt', 'two\n');
    put(repo.dir, 'new.txt', 'n\n');
    const plain = await faithful();
    sh(repo.dir, ['add', 'a.txt']);
    expect(await faithful()).toBe(plain);
    commitAll(repo.dir);
    expect(await faithful()).toBe(plain);
    sh(repo.dir, ['checkout', '-q', '-b', 'other']);
    sh(repo.dir, ['reset', '-q', '--soft', 'HEAD~2']);
    expect(await faithful()).toBe(plain);
    sh(repo.dir, ['commit', '-q', '-m', 'squashed']);
    sh(repo.dir, ['checkout', '-q', '--detach']);
    expect(await faithful()).toBe(plain);
  });

  test('history rewritten and base branch deleted: the base is still named by its id', async () => {
    put(repo.dir, 'a.txt', 'two\n');
    sh(repo.dir, ['checkout', '-q', '--orphan', 'fresh']);
    commitAll(repo.dir);
    sh(repo.dir, ['branch', '-D', 'main']);
    expect((await build()).diff.toString()).toContain('+two');
  });

  test('renames are told as both sides', async () => {
    renameSync(join(repo.dir, 'src/b.py'), join(repo.dir, 'src/c.py'));
    const diff = await faithful();
    expect(diff).toMatch(/deleted file mode[\s\S]*new file mode/);
    expect(diff).not.toContain('rename from');
  });

  test('binary, mode changes, symlinks, a file that becomes a folder and back', async () => {
    put(repo.dir, 'bin', Buffer.from([0, 255, 1, 254, 10, 13]));
    chmodSync(join(repo.dir, 'src/b.py'), 0o755);
    symlinkSync('/nowhere', join(repo.dir, 'link'));
    rmSync(join(repo.dir, 'a.txt'));
    put(repo.dir, 'a.txt/inner', 'x');
    const diff = await faithful();
    expect(diff).toMatch(/GIT binary patch/);
    expect(diff).toMatch(/old mode 100644\nnew mode 100755/);
    commitAll(repo.dir);
    rmSync(join(repo.dir, 'src'), { recursive: true });
    put(repo.dir, 'src', 'now a file\n');
    await faithful();
  });

  test('a folder replaced by a link elsewhere: what is behind it is not the tree', async () => {
    mkdirSync(join(root, 'outside'));
    put(root, 'outside/b.py', 'stolen\n');
    rmSync(join(repo.dir, 'src'), { recursive: true });
    symlinkSync(join(root, 'outside'), join(repo.dir, 'src'));
    expect(await faithful()).not.toContain('stolen');
  });

  test('odd names: newline, quotes, tab, leading dash, glob, not UTF-8', async () => {
    for (const name of ['new\nline', 'q"uo\'te', 'ta\tb', '-dash', ':(top)magic', '*.star', 'ü', ' ']) {
      put(repo.dir, name, `${name}\n`);
    }
    writeFileSync(Buffer.concat([Buffer.from(`${repo.dir}/`), Buffer.from([0x66, 0xff, 0xfe])]), 'bytes\n');
    expect(await faithful()).toContain('\\377\\376');
  });

  test('ignored files that were added by force are part of the work', async () => {
    put(repo.dir, 'build/wanted.txt', 'w\n');
    sh(repo.dir, ['add', '-f', 'build/wanted.txt']);
    expect((await build()).diff.toString()).toContain('build/wanted.txt');
  });

  test('files named in info/exclude are left out; our own settings are, even when the project tracks them', async () => {
    put(repo.dir, '.git/info/exclude', 'venv/\n');
    put(repo.dir, 'venv/x', 'x');
    put(repo.dir, '.flipstream/config.json', '{}');
    put(repo.dir, '.gitignore', '!/.flipstream/\n*.log\nbuild/\n');
    const diff = (await build()).diff.toString();
    expect(diff).not.toMatch(/venv|config\.json/);
    sh(repo.dir, ['add', '-f', '.flipstream']);
    expect((await build()).diff.toString()).not.toContain('config.json');
  });

  test('line endings follow the repository settings and attributes', async () => {
    put(repo.dir, '.gitattributes', '*.txt text eol=crlf\n');
    repo.base = commitAll(repo.dir);
    put(repo.dir, 'a.txt', 'one\r\n');
    expect((await build()).diff.length).toBe(0);
    rmSync(join(repo.dir, '.gitattributes'));
    repo.base = commitAll(repo.dir);
    sh(repo.dir, ['config', 'core.autocrlf', 'true']);
    put(repo.dir, 'src/b.py', 'def f():\r\n    return 1\r\n');
    expect((await build()).diff.length).toBe(0);
    sh(repo.dir, ['config', 'core.filemode', 'false']);
    chmodSync(join(repo.dir, 'src/b.py'), 0o755);
    expect((await build()).diff.length).toBe(0);
  });

  test('Large File Storage: a file that its pointer stands for is unchanged, a changed one is a new pointer', async () => {
    const pointer = (content: string) =>
      `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(content)}\nsize ${content.length}\n`;
    const big = 'pixels'.repeat(100_000);
    put(repo.dir, '.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
    put(repo.dir, 'x.bin', pointer(big));
    put(repo.dir, 'raw.bin', pointer('other'));
    put(repo.dir, 'empty.bin', '');
    repo.base = commitAll(repo.dir);
    put(repo.dir, 'x.bin', big);
    const limits = { fileBytes: 1000, totalBytes: 100_000 };
    expect((await build({ limits })).diff.toString()).toBe('');
    put(repo.dir, 'x.bin', `${big}!`);
    put(repo.dir, 'new.bin', 'n');
    const diff = (await build({ limits })).diff.toString();
    expect(diff).toContain(`+oid sha256:${sha256(`${big}!`)}`);
    expect(diff).toContain(`+oid sha256:${sha256('n')}`);
    expect(diff).not.toMatch(/pixels|raw\.bin|empty\.bin/);
  });
});
