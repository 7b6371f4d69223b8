import { join } from 'node:path';
import { readPlainFile } from './plain-file.ts';
import type { Repository } from './repository.ts';
import { type Git, GitError, runGit } from './run.ts';

/**
 * Whether a clone holds anything that is not the base commit or an ancestor of it: another branch, a stash, a
 * reflog, a loose or packed or borrowed object. Whoever works there could read the future out of it. A tag on
 * an ancestor is no future.
 *
 * @param scratch a git directory of ours into which nothing has been written
 * @throws GitError timeout or too_large: not known
 */
export async function historyVisible(
  git: Git,
  repo: Repository,
  scratch: string,
  base: string,
): Promise<boolean> {
  if (await refsAhead(git, repo, scratch, base)) return true;
  const run = { gitDir: scratch };
  const [all, reachable] = await Promise.all([
    runGit(
      git,
      ['cat-file', '--batch-all-objects', '--unordered', '--batch-check=%(objectname) %(objecttype)'],
      run,
    ),
    runGit(git, ['rev-list', '--objects', '--no-object-names', '--missing=allow-any', base], run),
  ]);
  const known = new Set(lines(reachable));
  const tags: string[] = [];
  for (const line of lines(all)) {
    const [oid = '', type] = line.split(' ');
    if (known.has(oid)) continue;
    if (type !== 'tag') return true;
    tags.push(oid);
  }
  if (tags.length === 0) return false;
  const input = `${tags.map((oid) => `${oid}^{}`).join('\n')}\n`;
  const peeled = await runGit(git, ['cat-file', '--batch-check=%(objectname)'], { ...run, input });
  return lines(peeled).some((oid) => !known.has(oid));
}

/** The cheap half of the question: in most clones another branch answers it at once. */
async function refsAhead(git: Git, repo: Repository, scratch: string, base: string): Promise<boolean> {
  try {
    const refs = await runGit(git, ['for-each-ref', '--format=%(objectname)'], { gitDir: repo.gitDir });
    const input = `${[...new Set(lines(refs))].join('\n')}\n^${base}\n`;
    const ahead = await runGit(git, ['rev-list', '--max-count=1', '--stdin'], { gitDir: scratch, input });
    return lines(ahead).length > 0;
  } catch (error) {
    if (error instanceof GitError && error.fault === 'failed') return false; // a broken ref: the objects will tell
    throw error;
  }
}

/**
 * Identity of a repository: the oldest root commit of a commit's history (the smallest id of those equally
 * old). Null in a shallow clone, whose oldest commit is not the repository's.
 * @throws GitError
 */
export async function rootCommit(git: Git, scratch: string, commit: string): Promise<string | null> {
  const boundary = readPlainFile(join(scratch, 'shallow'))?.toString('latin1') ?? '';
  const out = await runGit(git, ['rev-list', '--max-parents=0', '--timestamp', commit], { gitDir: scratch });
  const roots = lines(out).map((line) => {
    const [time = '0', id = ''] = line.split(' ');
    return { time: Number(time), id };
  });
  if (roots.some(({ id }) => boundary.includes(id))) return null;
  roots.sort((a, b) => a.time - b.time || (a.id < b.id ? -1 : 1));
  return roots[0]?.id ?? null;
}

function lines(output: Buffer): string[] {
  return output.toString('latin1').split('\n').filter(Boolean);
}
