import { chmodSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commitAll, PATH, put, remove, sh, temporary, treeAfter, treeNow } from '../git/testing.ts';
import { buildDiff } from './diff.ts';

let root: string;
beforeAll(() => {
  root = temporary();
});
afterAll(() => remove(root));

// few names, so that edits meet: files become folders, folders become links, links become files
const name = fc.constantFrom('a', 'b', 'c d', 'é"\n', '-x');
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const content = fc.oneof(
  fc
    .array(fc.constantFrom('x', 'y', 'z\r', ''), { maxLength: 6 })
    .map((lines) => Buffer.from(lines.join('\n'))),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
);
const edit = fc.oneof(
  fc.record({ op: fc.constant('write' as const), path, content, executable: fc.boolean() }),
  fc.record({ op: fc.constant('delete' as const), path }),
  // no link to itself: `git apply` gives up on those (ELOOP), whatever the patch
  fc.record({ op: fc.constant('link' as const), path, to: fc.constantFrom('/nowhere', '..', 'always', '.') }),
);
type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never;
const edits = (max: number) => fc.array(edit, { maxLength: max });
const between = fc.constantFrom('nothing', 'stage', 'commit', 'branch', 'detach');

/** Does an edit as a person would. What stands in its way, a file or a link, is replaced, never followed. */
function apply(dir: string, change: Edit): void {
  const parts = change.path.split('/');
  for (let depth = 1; depth < parts.length; depth++) {
    const up = join(dir, ...parts.slice(0, depth));
    if (lstatSync(up, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(up);
  }
  const at = join(dir, change.path);
  rmSync(at, { recursive: true, force: true });
  if (change.op === 'delete') return;
  mkdirSync(dirname(at), { recursive: true });
  if (change.op === 'link') symlinkSync(change.to, at);
  else {
    writeFileSync(at, change.content);
    chmodSync(at, change.executable ? 0o755 : 0o644);
  }
}

function afterwards(dir: string, what: string): void {
  if (what === 'stage') sh(dir, ['add', '-A']);
  if (what === 'commit') commitAll(dir);
  if (what === 'branch') sh(dir, ['checkout', '-q', '-b', 'other']);
  if (what === 'detach') sh(dir, ['checkout', '-q', '--detach']);
}

test('for any tree, edited in any way: the diff applied to a clean base gives the tree', async () => {
  let run = 0;
  const property = fc.asyncProperty(
    edits(8),
    edits(5),
    between,
    edits(5),
    async (start, first, act, second) => {
      const dir = join(root, `${run++}`);
      mkdirSync(dir);
      sh(dir, ['init', '-q', '-b', 'main']);
      put(dir, 'always', 'there\n');
      for (const change of start) apply(dir, change);
      const base = commitAll(dir);
      for (const change of first) apply(dir, change);
      afterwards(dir, act);
      for (const change of second) apply(dir, change);
      const built = await buildDiff({ worktree: dir, baseCommit: base, path: PATH });
      expect(built.missing).toBeUndefined();
      expect(treeAfter(dir, base, built.diff, root)).toBe(treeNow(dir));
      remove(dir);
    },
  );
  await fc.assert(property, { numRuns: 15 });
});
