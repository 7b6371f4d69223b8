import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { readPlainFile } from './plain-file.ts';

/** A working tree and where its git directories are. */
export interface Repository {
  /** Root of the working tree, real path. */
  top: string;
  /** The working tree's own git directory: HEAD, index. */
  gitDir: string;
  /** What all working trees share: objects, refs, config. */
  commonDir: string;
}

/**
 * Finds the working tree that holds a directory by looking for `.git` upwards. Git itself is not asked: it
 * would follow `core.worktree` of the repository, and refuse directories owned by someone else.
 * @returns null outside any repository, and inside a git directory
 */
export function findRepository(directory: string): Repository | null {
  let top = realOrNull(directory);
  while (top !== null) {
    const found = repositoryAt(top);
    if (found) return found;
    const parent = dirname(top);
    top = parent === top ? null : parent;
  }
  return null;
}

/** The repository whose working tree's root is exactly `top`, or null. */
export function repositoryAt(top: string): Repository | null {
  const dotGit = join(top, '.git');
  try {
    const gitDir = statSync(dotGit).isDirectory() ? realpathSync(dotGit) : followGitFile(dotGit);
    const commonDir = commonOf(gitDir);
    lstatSync(join(gitDir, 'HEAD'));
    if (!statSync(join(commonDir, 'objects')).isDirectory()) return null;
    return { top, gitDir, commonDir };
  } catch {
    return null;
  }
}

function followGitFile(file: string): string {
  const target = /^gitdir: (.+?)\r?\n*$/s.exec(readPlainFile(file)?.toString('utf8') ?? '')?.[1];
  if (!target) throw new Error('not a gitdir file');
  return realpathSync(resolve(dirname(file), target));
}

function commonOf(gitDir: string): string {
  const text = readPlainFile(join(gitDir, 'commondir'))?.toString('utf8').trim();
  if (!text) return gitDir;
  return realpathSync(isAbsolute(text) ? text : join(gitDir, text));
}

function realOrNull(directory: string): string | null {
  try {
    return realpathSync(directory);
  } catch {
    return null;
  }
}
