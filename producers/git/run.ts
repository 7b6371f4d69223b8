import { spawn } from 'node:child_process';
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join, sep } from 'node:path';

/** Why a git process gave no answer. `failed` is git's own non-zero exit. */
export type GitFault = 'timeout' | 'too_large' | 'failed' | 'no_git';

export class GitError extends Error {
  readonly fault: GitFault;

  constructor(fault: GitFault, message: string) {
    super(message);
    this.name = 'GitError';
    this.fault = fault;
  }
}

/**
 * All of the environment that git gets: nothing of the user's or the system's configuration, no replaced
 * objects, no fetching of missing ones, no locks taken for convenience, no questions.
 */
const HERMETIC = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_PROTOCOL_FROM_USER: '0',
  GIT_ALLOW_PROTOCOL: 'none',
  LC_ALL: 'C',
} as const;

const USUAL_PLACES = ['/usr/local/bin', '/opt/homebrew/bin', '/usr/bin', '/bin'].join(delimiter);

export interface Git {
  /** Absolute path of the git binary. */
  bin: string;
  /** Ends every process started with it. */
  signal: AbortSignal;
}

/**
 * The git binary: the first of PATH that lies neither at a relative entry nor inside the project, which could
 * put a program of that name there (`node_modules/.bin` is often on a PATH).
 *
 * @param path value of PATH; undefined for the usual places.
 * @throws GitError no_git
 */
export function findGit(path: string | undefined, project: string): string {
  const name = process.platform === 'win32' ? 'git.exe' : 'git';
  const inside = real(project) + sep;
  for (const folder of (path || USUAL_PLACES).split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const bin = join(folder, name);
    try {
      accessSync(bin, constants.X_OK);
    } catch {
      continue;
    }
    if (!`${real(folder)}${sep}`.startsWith(inside)) return bin;
  }
  throw new GitError('no_git', 'git was not found on PATH');
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

export interface GitRun {
  gitDir: string;
  /** Working tree; default: none is named and the process starts in the git directory. */
  workTree?: string;
  indexFile?: string;
  input?: Uint8Array | string;
  /** Bytes of output after which the process is ended. */
  maxBytes?: number;
  /** Exit codes that are answers; default: 0 only. */
  codes?: readonly number[];
}

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;

/**
 * Runs git with a hermetic environment on an explicit git directory (so that it never looks for one) and
 * returns its standard output.
 *
 * @throws GitError timeout (the signal fired), too_large (more than `maxBytes`), failed, no_git
 */
export function runGit(git: Git, args: readonly string[], run: GitRun): Promise<Buffer> {
  const env: Record<string, string> = { ...HERMETIC, GIT_DIR: run.gitDir };
  if (run.workTree !== undefined) env.GIT_WORK_TREE = run.workTree;
  if (run.indexFile !== undefined) env.GIT_INDEX_FILE = run.indexFile;
  return new Promise((resolve, reject) => {
    if (git.signal.aborted) {
      reject(new GitError('timeout', `git ${args[0]}: out of time`));
      return;
    }
    const child = spawn(git.bin, args, {
      cwd: run.workTree ?? run.gitDir,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const out: Buffer[] = [];
    let bytes = 0;
    let stderr = '';
    let fault: GitError | undefined;
    const stop = (error: GitError) => {
      fault ??= error;
      child.kill('SIGKILL');
      child.stdout.destroy();
    };
    const onAbort = () => stop(new GitError('timeout', `git ${args[0]}: out of time`));
    git.signal.addEventListener('abort', onAbort, { once: true });
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > (run.maxBytes ?? DEFAULT_MAX_BYTES))
        stop(new GitError('too_large', `git ${args[0]}: too much output`));
      else out.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < 2000) stderr += chunk.toString('utf8');
    });
    child.stdin.on('error', () => {}); // git may end without reading all of its input; its exit code tells
    child.on('error', (error) => {
      git.signal.removeEventListener('abort', onAbort);
      reject(fault ?? new GitError('no_git', error.message));
    });
    child.on('close', (code) => {
      git.signal.removeEventListener('abort', onAbort);
      if (fault) reject(fault);
      else if ((run.codes ?? [0]).includes(code ?? -1)) resolve(Buffer.concat(out));
      else reject(new GitError('failed', `git ${args[0]} ended with ${code}: ${stderr.trim()}`));
    });
    child.stdin.end(run.input ?? '');
  });
}

/** Paths as git reads them with `-z`: each with a NUL behind it. */
export function joinNul(paths: readonly string[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
}

/** A name as the file system's functions take it. */
export function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Splits NUL-terminated output; names are byte strings (latin1), since a path need not be UTF-8. */
export function splitNul(output: Buffer): string[] {
  const parts = output.toString('latin1').split('\0');
  parts.pop();
  return parts;
}
