import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gitOk } from '../git.ts';
import type { HiddenFile } from '../tasks/tests-hash.ts';

/**
 * A checkout of the base commit with nothing newer reachable: the mirror holds the base commit and its ancestors
 * only; here its remote, branches, reflogs and hooks go too. Objects are copied, never linked, since graded code
 * could write through a link into the mirror.
 * @throws FlipstreamError `git_failed` or `git_unavailable` (retryable).
 */
export async function checkOut(mirror: string, baseCommit: string, tree: string): Promise<void> {
  await gitOk([
    'clone',
    '--quiet',
    '--no-hardlinks',
    '--no-tags',
    '--no-checkout',
    '--template=',
    mirror,
    tree,
  ]);
  await gitOk(['checkout', '--quiet', '--detach', baseCommit], { cwd: tree });
  await gitOk(['remote', 'remove', 'origin'], { cwd: tree });
  const refs = (await gitOk(['for-each-ref', '--format=delete %(refname)'], { cwd: tree })).toString();
  await gitOk(['update-ref', '--stdin'], { cwd: tree, input: refs });
  for (const trace of ['logs', 'FETCH_HEAD', 'ORIG_HEAD', 'packed-refs', 'description'])
    rmSync(join(tree, '.git', trace), { recursive: true, force: true });
}

/** Paths that the base commit holds. */
export async function pathsAtBase(tree: string): Promise<Set<string>> {
  const listed = await gitOk(['ls-tree', '-r', '-z', '--name-only', 'HEAD'], { cwd: tree });
  return new Set(listed.toString().split('\0').filter(Boolean));
}

/** Puts the hidden tests into a tree, over whatever lies there: from the store, never from the diff. */
export function placeHidden(tree: string, hidden: readonly HiddenFile[]): void {
  for (const file of hidden) {
    const path = join(tree, file.path);
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { recursive: true, force: true });
    writeFileSync(path, file.content, { flag: 'wx' });
    chmodSync(path, file.executable ? 0o755 : 0o644);
  }
}
