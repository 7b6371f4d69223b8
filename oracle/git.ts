import { spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { FlipstreamError } from '../schemas/errors.ts';
import { GIT_PATH } from './environment.ts';

export interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

export interface GitOptions {
  cwd?: string;
  input?: Uint8Array | string;
  env?: Record<string, string>;
  /** Processor time that it may take, seconds; then it is ended. */
  cpuS?: number;
}

/** Nothing of the machine's or the user's configuration reaches git: the same diff means the same everywhere. */
function environment(extra: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: GIT_PATH,
    HOME: devNull,
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    ...extra,
  };
}

const LIMITED = 'ulimit -t "$0"; exec git "$@"';

const SETTINGS = ['safe.directory=*', `core.hooksPath=${devNull}`, 'core.fsmonitor=false', 'gc.auto=0'];

/**
 * Runs git and returns how it ended, whatever the exit code.
 * @throws FlipstreamError `git_unavailable` (retryable) when git itself could not be started.
 */
export function git(args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const all = [...SETTINGS.flatMap((setting) => ['-c', setting]), ...args];
    const { cpuS } = options;
    const [program, argv] =
      cpuS === undefined ? ['git', all] : ['/bin/sh', ['-c', LIMITED, String(cpuS), ...all]];
    const child = spawn(program, argv, {
      cwd: options.cwd,
      env: environment(options.env),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin.on('error', () => {}); // git may end before it has read everything; its exit code tells why
    child.on('error', (cause) =>
      reject(
        new FlipstreamError(
          'git_unavailable',
          'retryable',
          `git could not be started: ${cause.message}`,
          cause,
        ),
      ),
    );
    child.on('close', (code) =>
      resolve({ code: code ?? -1, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() }),
    );
    child.stdin.end(options.input ?? '');
  });
}

/**
 * Runs git where only success is expected.
 * @throws FlipstreamError `git_failed` (retryable) with git's own words.
 */
export async function gitOk(args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const { code, stdout, stderr } = await git(args, options);
  if (code === 0) return stdout;
  throw new FlipstreamError('git_failed', 'retryable', `git ${args[0]} ended with ${code}: ${stderr.trim()}`);
}
