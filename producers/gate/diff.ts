import { join } from 'node:path';
import { sha256 } from '../../schemas/hash.ts';
import { readTree } from '../git/base-tree.ts';
import { findRepository, type Repository } from '../git/repository.ts';
import { findGit, type Git, GitError, runGit, splitNul } from '../git/run.ts';
import { createScratch, readRepositoryConfig, removeScratch } from '../git/scratch.ts';
import { isOurs, treeChanges } from './tree-changes.ts';

export interface DiffLimits {
  /** Bytes of one changed file. */
  fileBytes: number;
  /** Bytes of all new files together, and of the diff. */
  totalBytes: number;
}
export const DIFF_LIMITS: DiffLimits = { fileBytes: 8 * 1024 * 1024, totalBytes: 32 * 1024 * 1024 };
export const DIFF_DEADLINE_MS = 60_000;

/** Why there is no diff: such a request is sent with an empty one, marked, and graded. */
export type DiffMissing =
  | 'not_a_repository'
  | 'no_base'
  | 'file_too_large'
  | 'too_large'
  | 'timeout'
  | 'no_git'
  | 'git_failed';

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

class Missing extends Error {
  readonly reason: DiffMissing;

  constructor(reason: DiffMissing) {
    super(reason);
    this.reason = reason;
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
    await loadWorktree(git, repo, scratch, { base, limits });
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

interface Loading {
  base: string;
  limits: DiffLimits;
}

/** Brings our index, which holds the base, to what the working tree holds. */
async function loadWorktree(git: Git, repo: Repository, scratch: string, loading: Loading): Promise<void> {
  const { base, limits } = loading;
  const run = { gitDir: scratch, workTree: repo.top };
  const [entries, untracked, staged] = await Promise.all([
    readTree(git, scratch, base),
    runGit(git, ['ls-files', '-z', '--others', '--exclude-standard', ...OUR_PATTERNS], run).then(splitNul),
    stagedPaths(git, repo, scratch),
  ]);
  const changes = treeChanges({
    top: repo.top,
    base: entries,
    others: [...untracked, ...staged.paths],
    sparse: staged.sparse,
    fileBytes: limits.fileBytes,
  });
  for (const { path, size } of changes.large) {
    const oid = entries.get(path)?.oid;
    if (!oid || (await sizeOf(git, scratch, oid)) !== size) throw new Missing('file_too_large');
  }
  if (changes.newBytes > limits.totalBytes) throw new Missing('too_large');
  const index = (how: string[], paths: string[]) =>
    paths.length === 0
      ? undefined
      : runGit(git, ['update-index', ...how, '-z', '--stdin'], { ...run, input: joinNul(paths) });
  await index(['--force-remove'], changes.remove);
  await index(['--add', '--replace', '--remove'], changes.add);
}

const OUR_PATTERNS = ['--exclude=/.flipstream/', '--exclude=/.oracle-flip/'];

function joinNul(paths: readonly string[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
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
