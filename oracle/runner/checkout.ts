import { chmodSync, lstatSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import { gitOk } from '../git.ts';
import type { HiddenFile } from '../tasks/tests-hash.ts';

/**
 * A checkout of the base commit with nothing newer reachable: the mirror holds the base commit and its ancestors
 * only, and a repository made anew around its objects has no remote, ref, reflog or hook at all. Objects are
 * copied, never linked, since graded code could write through a link into the mirror.
 * @throws FlipstreamError `mirror_unreadable`, `git_failed` or `git_unavailable` (retryable).
 */
export async function checkOut(mirror: string, baseCommit: string, tree: string): Promise<void> {
  const format = baseCommit.length === 64 ? 'sha256' : 'sha1';
  await gitOk(['init', '--quiet', '--template=', `--object-format=${format}`, tree]);
  try {
    await cp(join(mirror, 'objects'), join(tree, '.git', 'objects'), { recursive: true });
  } catch (cause) {
    throw new FlipstreamError('mirror_unreadable', 'retryable', `${mirror}: ${messageOf(cause)}`, cause);
  }
  const quiet = ['-c', 'core.logAllRefUpdates=false', '-c', 'advice.detachedHead=false'];
  await gitOk([...quiet, 'checkout', '--quiet', '--detach', baseCommit], { cwd: tree });
}

/** Paths that the base commit holds. @param directory a checkout of it, or a mirror. */
export async function pathsAtBase(directory: string, baseCommit: string): Promise<Set<string>> {
  const listed = await gitOk([
    '-C',
    directory,
    'ls-tree',
    '-r',
    '-z',
    '--name-only',
    '--full-tree',
    baseCommit,
  ]);
  return new Set(listed.toString().split('\0').filter(Boolean));
}

/** Puts the hidden tests into a tree, over whatever lies there: from the store, never from the diff. */
export function placeHidden(tree: string, hidden: readonly HiddenFile[]): void {
  for (const file of hidden) {
    const path = join(tree, file.path);
    makeWay(tree, dirname(file.path));
    rmSync(path, { recursive: true, force: true });
    writeFileSync(path, file.content, { flag: 'wx' });
    chmodSync(path, file.executable ? 0o755 : 0o644);
  }
}

/** Directories down to a hidden file, in place of whatever else a diff put there: it must not be able to stop a run. */
function makeWay(tree: string, directory: string): void {
  let path = tree;
  for (const part of directory.split('/')) {
    path = join(path, part);
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(path);
    makeFolder(path, 0o777);
  }
}
