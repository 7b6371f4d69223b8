import { lstatSync, type Stats } from 'node:fs';
import type { TreeEntry } from '../git/base-tree.ts';
import type { LfsFile } from './lfs.ts';

/** What to tell an index that holds the base so that it comes to hold the working tree. Paths are byte strings. */
export interface TreeChanges {
  /** Files, links and submodules to hash and add. */
  add: string[];
  remove: string[];
  /** Files under Large File Storage: their pointers are added. No size limit: the pointer is small. */
  lfs: LfsFile[];
  /** Bytes of what is in `add` and may be new: sizes of tracked files are not counted before they are compared. */
  newBytes: number;
  /** Files larger than the limit, with their size. */
  large: { path: string; size: number }[];
}

export interface Observed {
  top: string;
  base: ReadonlyMap<string, TreeEntry>;
  /** Paths to consider beside those of the base: not ignored, or known to the project's own index. */
  others: Iterable<string>;
  /** Paths that a sparse checkout leaves out on purpose: absent is not deleted. */
  sparse: ReadonlySet<string>;
  /** Paths under Large File Storage. */
  lfs: ReadonlySet<string>;
  /** The repository's setting: whether the executable bit of a file means anything. */
  filemode: boolean;
  fileBytes: number;
}

const OURS = ['.flipstream', '.oracle-flip'];
const GITLINK = '160000';

/**
 * Looks at the working tree as git would, with our own eyes: which paths are there as files, links or
 * submodules, and which of the base are gone. Nothing is opened, nothing is followed. Our own settings
 * (`.flipstream/`, `.oracle-flip/`) are no part of the work.
 */
export function treeChanges(observed: Observed): TreeChanges {
  const { top, base, others, sparse } = observed;
  const changes: TreeChanges = { add: [], remove: [], lfs: [], newBytes: 0, large: [] };
  const isFolder = folderCheck(top);
  const at = (path: string) => (isFolder(parentOf(path)) ? statOf(top, path) : undefined);
  for (const [path, entry] of base) {
    if (isOurs(path)) continue;
    const stat = at(path);
    if (!stat) {
      if (!sparse.has(path)) changes.remove.push(path);
    } else if (stat.isDirectory()) {
      const isLink = entry.mode === GITLINK;
      if (isLink && statOf(top, `${path}/.git`)) changes.add.push(path);
      else if (!isLink) changes.remove.push(path);
    } else if (stat.isFile() || stat.isSymbolicLink()) take(changes, path, stat, observed);
    else changes.remove.push(path);
  }
  for (const raw of new Set(others)) {
    const path = raw.endsWith('/') ? raw.slice(0, -1) : raw;
    if (base.has(path) || isOurs(path)) continue;
    const stat = at(path);
    if (stat?.isFile() || stat?.isSymbolicLink()) take(changes, path, stat, observed);
    else if (stat?.isDirectory() && raw.endsWith('/')) changes.add.push(path);
  }
  return changes;
}

function take(changes: TreeChanges, path: string, stat: Stats, observed: Observed): void {
  const before = observed.base.get(path);
  if (observed.lfs.has(path) && stat.isFile()) {
    const executable = observed.filemode ? (stat.mode & 0o100) !== 0 : before?.mode === '100755';
    changes.lfs.push({ path, mode: executable ? '100755' : '100644' });
    return;
  }
  changes.add.push(path);
  if (!before) changes.newBytes += stat.size;
  if (stat.size > observed.fileBytes) changes.large.push({ path, size: stat.size });
}

export function isOurs(path: string): boolean {
  return OURS.some((name) => path === name || path.startsWith(`${name}/`));
}

function parentOf(path: string): string {
  const cut = path.lastIndexOf('/');
  return cut < 0 ? '' : path.slice(0, cut);
}

/** Whether every step down to a folder is a real folder: what lies behind a link is not the tree's. */
function folderCheck(top: string): (folder: string) => boolean {
  const known = new Map<string, boolean>([['', true]]);
  const check = (folder: string): boolean => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    const answer = check(parentOf(folder)) && (statOf(top, folder)?.isDirectory() ?? false);
    known.set(folder, answer);
    return answer;
  };
  return check;
}

function statOf(top: string, path: string): Stats | undefined {
  try {
    return lstatSync(Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, 'latin1')]), {
      throwIfNoEntry: false,
    });
  } catch {
    return undefined; // a name the file system refuses, or a folder that may not be entered
  }
}
