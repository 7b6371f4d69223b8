import { join } from 'node:path';
import { readTree } from '../git/base-tree.ts';
import { headOf } from '../git/head.ts';
import { type Repository, repositoryAt } from '../git/repository.ts';
import { type Git, GitError, joinNul, runGit, splitNul, utf8 } from '../git/run.ts';
import { type DiffLimits, Missing } from './diff-missing.ts';
import { addPointers, lfsPaths } from './lfs.ts';
import { isOurs, treeChanges } from './tree-changes.ts';

interface Loading {
  /** Commit or tree that the index of `scratch` holds. */
  base: string;
  limits: DiffLimits;
  filemode: boolean;
}

/**
 * Brings an index of ours, which holds the base, to what the working tree holds.
 * @throws Missing file_too_large, too_large
 * @throws GitError
 */
export async function loadWorktree(
  git: Git,
  repo: Repository,
  scratch: string,
  loading: Loading,
): Promise<void> {
  const { base, limits, filemode } = loading;
  const [entries, untracked, staged] = await Promise.all([
    readTree(git, scratch, base),
    untrackedPaths(git, repo.top, scratch),
    stagedPaths(git, repo, scratch),
  ]);
  const others = [...untracked, ...staged.paths];
  const changes = treeChanges({
    top: repo.top,
    base: entries,
    others,
    sparse: staged.sparse,
    lfs: await lfsPaths(git, repo, scratch, [...entries.keys(), ...others]),
    filemode,
    fileBytes: limits.fileBytes,
  });
  for (const { path, size } of changes.large) {
    const oid = entries.get(path)?.oid;
    if (!oid || (await sizeOf(git, scratch, oid)) !== size) throw new Missing('file_too_large');
  }
  if (changes.newBytes > limits.totalBytes) throw new Missing('too_large');
  const index = async (how: string[], paths: string[]) => {
    if (paths.length === 0) return;
    const run = { gitDir: scratch, workTree: repo.top, input: joinNul(paths) };
    await runGit(git, ['update-index', ...how, '-z', '--stdin'], run);
  };
  await index(['--force-remove'], changes.remove);
  await index(['--add', '--replace', '--remove'], changes.add);
  if (changes.lfs.length > 0) await addPointers(git, repo, scratch, changes.lfs, entries);
}

const LIST_NEW = [
  'ls-files',
  '-z',
  '--others',
  '--exclude-standard',
  '--exclude=/.flipstream/',
  '--exclude=/.oracle-flip/',
];

/**
 * New paths that are not ignored. A repository inside is one path that ends in a slash, unless it has no
 * commit to point at: then its files are new files like any other.
 */
async function untrackedPaths(git: Git, top: string, scratch: string): Promise<string[]> {
  const listed = splitNul(await runGit(git, LIST_NEW, { gitDir: scratch, workTree: top }));
  const paths: string[] = [];
  for (const path of listed) {
    const nested = path.endsWith('/') ? repositoryAt(join(top, utf8(path))) : null;
    if (!nested || (await headOf(git, nested)) !== null) paths.push(path);
    else {
      const run = { gitDir: scratch, workTree: nested.top, indexFile: join(scratch, 'no-index') };
      const inner = splitNul(await runGit(git, LIST_NEW, run));
      paths.push(...inner.filter((name) => !name.endsWith('/')).map((name) => path + name));
    }
  }
  return paths;
}

/**
 * What the project's own index says: paths added by force although ignored, and paths a sparse checkout left
 * out. It is believed only where a lie would hide the liar's own work. An index we cannot read says nothing.
 */
async function stagedPaths(git: Git, repo: Repository, scratch: string) {
  const answer = { paths: [] as string[], sparse: new Set<string>() };
  const run = { gitDir: scratch, workTree: repo.top, indexFile: join(repo.gitDir, 'index') };
  let lines: string[];
  try {
    lines = splitNul(await runGit(git, ['ls-files', '-z', '-t', '--cached'], run));
  } catch (error) {
    if (error instanceof GitError && error.fault === 'failed') return answer;
    throw error;
  }
  for (const line of lines) {
    const path = line.slice(2);
    if (line.startsWith('S')) answer.sparse.add(path);
    else if (!isOurs(path)) answer.paths.push(path);
  }
  return answer;
}

async function sizeOf(git: Git, gitDir: string, oid: string): Promise<number> {
  const out = await runGit(git, ['cat-file', '-s', oid], { gitDir });
  return Number(out.toString('latin1'));
}
