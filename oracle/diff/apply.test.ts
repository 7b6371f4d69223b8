import { chmodSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkOut, pathsAtBase } from '../runner/checkout.ts';
import { makeMirror } from '../tasks/mirror.ts';
import { makeRepository, runGit, slowToApply, temporaryDirectory } from '../testing.ts';
import { applyDiff } from './apply.ts';
import { filterDiff, pathRule } from './filter.ts';

const ALL = { allowlist: ['**'], denylist: ['tests/'], shadow_names: [] };
const LONG = Array.from({ length: 40 }, (_, at) => `line ${at}\n`).join('');

/** A clean checkout of a repository's HEAD, and what applying a diff to it gives. */
async function checkoutOf(repository: string) {
  const dir = temporaryDirectory();
  const { base_commit } = await makeMirror(repository, 'HEAD', join(dir, 'mirror.git'));
  const tree = join(dir, 'tree');
  await checkOut(join(dir, 'mirror.git'), base_commit, tree);
  const apply = async (diff: Buffer) => {
    const base = await pathsAtBase(tree, base_commit);
    const filtered = filterDiff(diff, ALL, (path) => base.has(path));
    if ('unparseable' in filtered) throw new Error(filtered.unparseable);
    return { refused: await applyDiff(tree, dir, filtered.kept, pathRule(ALL)), dropped: filtered.dropped };
  };
  return { tree, apply };
}

function treeOf(dir: string): string {
  runGit(dir, 'add', '--all', '--force');
  return runGit(dir, 'write-tree');
}

test.each([['--no-renames'], ['--find-renames'], ['--find-copies-harder']])(
  'git\u2019s own diff (%s) of every kind of change is read whole and makes the same tree',
  async (how) => {
    const repository = makeRepository({
      'a.txt': LONG,
      'move me.txt': LONG.replace('line 3', 'three'),
      'gone.txt': 'x\n',
      'no-newline.txt': 'x',
      'crlf.txt': 'a\r\nb\r\n',
      'bin.dat': 'a\u0000b',
      'copied.txt': LONG.toUpperCase(),
      'tests/t.txt': 'test\n',
    });
    const { tree, apply } = await checkoutOf(repository);
    const at = (path: string) => join(repository, path);
    writeFileSync(
      at('a.txt'),
      LONG.replace('line 1\n', 'diff --git a/x b/x\n').replace('line 30\n', '--- a/tests/t\n+++ b/tests/t\n'),
    );
    renameSync(at('move me.txt'), at('moved \u00e9 "quoted".txt'));
    rmSync(at('gone.txt'));
    writeFileSync(at('no-newline.txt'), 'y');
    writeFileSync(at('crlf.txt'), 'a\r\nc\r\n');
    writeFileSync(at('bin.dat'), Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 7) % 256)));
    cpSync(at('copied.txt'), at('copy.txt'));
    writeFileSync(at('copied.txt'), `${LONG.toUpperCase()}more\n`);
    writeFileSync(at('empty'), '');
    writeFileSync(at('tab\there'), 'odd\n');
    mkdirSync(at('b b/c'), { recursive: true });
    writeFileSync(at('b b/c/d b/e'.replace('/e', '')), 'spaces\n');
    chmodSync(at('no-newline.txt'), 0o755);
    symlinkSync('/etc/passwd', at('link'));
    writeFileSync(at('tests/t.txt'), 'edited\n');
    runGit(repository, 'add', '--all');
    const diff = Buffer.from(runGit(repository, 'diff', '--cached', '--binary', '--full-index', how, 'HEAD'));
    const { refused, dropped } = await apply(diff);
    expect(refused).toBeNull();
    expect(dropped.map(({ why }) => why).sort()).toEqual(['denied', 'odd_name', 'symlink']);
    rmSync(at('link'));
    rmSync(at('tab\there'));
    writeFileSync(at('tests/t.txt'), 'test\n');
    expect(treeOf(tree)).toBe(treeOf(repository));
  },
);

test('a diff that is made to take git long is refused, by processor time', async () => {
  const { tree, apply } = await checkoutOf(makeRepository({ 'a.txt': 'a\n' }));
  const before = treeOf(tree);
  expect((await apply(slowToApply())).refused).toMatch(/does not apply.*too long/);
  expect(treeOf(tree)).toBe(before);
});

test('nothing is written through a symlink of the base, and nothing into git\u2019s own directory', async () => {
  const repository = makeRepository({ 'tests/t.txt': 'test\n' });
  symlinkSync('tests', join(repository, 'shortcut'));
  runGit(repository, 'add', '--all');
  runGit(repository, 'commit', '--quiet', '--message', 'link');
  const { tree, apply } = await checkoutOf(repository);
  const before = treeOf(tree);
  const edit =
    'diff --git a/shortcut/t.txt b/shortcut/t.txt\n--- a/shortcut/t.txt\n+++ b/shortcut/t.txt\n@@ -1 +1 @@\n-test\n+cheat\n';
  expect((await apply(Buffer.from(edit))).refused).toMatch(/does not apply/);
  const add = edit
    .replaceAll('t.txt', 'new')
    .replace('--- a/shortcut/new', 'new file mode 100644\n--- /dev/null')
    .replace('-1 +1', '-0,0 +1')
    .replace('-test\n', '');
  expect((await apply(Buffer.from(add))).refused).toMatch(/does not apply/);
  expect(treeOf(tree)).toBe(before);
});
