import { sha256 } from '../../schemas/hash.ts';
import { findRepository, type Repository } from '../git/repository.ts';
import { findGit, type Git, GitError, runGit } from '../git/run.ts';
import { createScratch, readRepositoryConfig, removeScratch } from '../git/scratch.ts';
import { DIFF_DEADLINE_MS, DIFF_LIMITS, type DiffLimits, type DiffMissing, Missing } from './diff-missing.ts';
import { loadWorktree } from './load-worktree.ts';

export interface Diff {
  diff: Buffer;
  /** SHA-256 of `diff`. */
  diffHash: string;
  missing?: DiffMissing;
}

export interface DiffRequest {
  /** Any directory of the working tree. */
  worktree: string;
  /** The commit to compare with; null: a repository that had none when the session began. */
  baseCommit: string | null;
  limits?: DiffLimits;
  /** Milliseconds from now in which it must be done. */
  deadlineMs?: number;
  /** Value of PATH, to find git. */
  path: string | undefined;
}

/**
 * The difference between a commit and the working tree as it is now, whatever was committed, staged or
 * switched in between: binary, full index, no renames (both sides of one are told), new files by `.gitignore`
 * and the clone's `info/exclude`. Files that git ignores but the agent added by force count as new.
 *
 * Nothing of the repository runs: git works in a directory of our own, where no filter, driver, monitor, hook
 * or include of the project's is known (oracle-design, "What is graded"). Never throws.
 */
export async function buildDiff(request: DiffRequest): Promise<Diff> {
  const signal = AbortSignal.timeout(request.deadlineMs ?? DIFF_DEADLINE_MS);
  try {
    return found(await tryTwice(() => diffOnce(request, signal)));
  } catch (error) {
    return { ...found(Buffer.alloc(0)), missing: reasonOf(error) };
  }
}

function found(diff: Buffer): Diff {
  return { diff, diffHash: sha256(diff) };
}

function reasonOf(error: unknown): DiffMissing {
  if (error instanceof Missing) return error.reason;
  if (error instanceof GitError && error.fault !== 'failed') return error.fault;
  return 'git_failed';
}

/** A file that vanishes between look and hash makes git fail; it will not vanish twice. */
async function tryTwice<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (reasonOf(error) !== 'git_failed') throw error;
    return work();
  }
}

async function diffOnce(request: DiffRequest, signal: AbortSignal): Promise<Buffer> {
  const repo = findRepository(request.worktree);
  if (!repo) throw new Missing('not_a_repository');
  const git: Git = { bin: findGit(request.path, repo.top), signal };
  const { baseCommit, limits = DIFF_LIMITS } = request;
  if (baseCommit !== null && !/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(baseCommit)) throw new Missing('no_base');
  const config = await readRepositoryConfig(git, repo);
  const format = formatOf(baseCommit ?? '', config.get('extensions.objectformat'));
  const scratch = createScratch(repo, config, format);
  try {
    const base = baseCommit ?? (await emptyTree(git, scratch));
    await loadBase(git, repo, scratch, base);
    const filemode = !/^(false|no|off|0)$/i.test(config.get('core.filemode') ?? 'true');
    await loadWorktree(git, repo, scratch, { base, limits, filemode });
    return await printDiff(git, repo, scratch, base, limits);
  } finally {
    removeScratch(scratch);
  }
}

function formatOf(commit: string, configured: string | undefined): 'sha1' | 'sha256' {
  return commit.length === 64 || (commit === '' && configured === 'sha256') ? 'sha256' : 'sha1';
}

async function emptyTree(git: Git, gitDir: string): Promise<string> {
  const out = await runGit(git, ['hash-object', '-w', '-t', 'tree', '--stdin'], { gitDir });
  return out.toString('latin1').trim();
}

async function loadBase(git: Git, repo: Repository, scratch: string, base: string): Promise<void> {
  try {
    await runGit(git, ['read-tree', base], { gitDir: scratch, workTree: repo.top });
  } catch (error) {
    if (error instanceof GitError && error.fault === 'failed') throw new Missing('no_base');
    throw error;
  }
}

const FORM = [
  '--cached',
  '--patch',
  '--binary',
  '--full-index',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-relative',
  '--no-indent-heuristic',
  '--diff-algorithm=myers',
  '--unified=3',
  '--inter-hunk-context=0',
  '--submodule=short',
  '--ignore-submodules=none',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

function printDiff(
  git: Git,
  repo: Repository,
  scratch: string,
  base: string,
  limits: DiffLimits,
): Promise<Buffer> {
  return runGit(git, ['diff-index', ...FORM, base, '--'], {
    gitDir: scratch,
    workTree: repo.top,
    maxBytes: limits.totalBytes,
  });
}
