/** Real repositories in temporary directories, for the tests of this folder's users. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export const PATH = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin';

const ENV = {
  PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
  LC_ALL: 'C',
};

/** Runs git as a person would, in a directory; returns its output without the last line end. */
export function sh(cwd: string, args: readonly string[], input?: string | Uint8Array): string {
  return execFileSync('git', args, { cwd, env: ENV, input, stdio: ['pipe', 'pipe', 'pipe'] })
    .toString('utf8')
    .replace(/\n$/, '');
}

export function temporary(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'flipstream-test-')));
}

export function remove(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
}

export function put(dir: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), content);
}

export function commitAll(dir: string, message = 'c'): string {
  sh(dir, ['add', '-A']);
  sh(dir, ['commit', '-q', '--allow-empty', '-m', message]);
  return sh(dir, ['rev-parse', 'HEAD']);
}

export interface Planted {
  dir: string;
  base: string;
}

/** A repository with two commits, the second of them the base: `a.txt`, `src/b.py`, `.gitignore`. */
export function repository(parent: string, name = 'repo', initArgs: readonly string[] = []): Planted {
  const dir = join(parent, name);
  mkdirSync(dir, { recursive: true });
  sh(dir, ['init', '-q', '-b', 'main', ...initArgs]);
  put(dir, 'a.txt', 'one\n');
  commitAll(dir, 'root');
  put(dir, 'src/b.py', 'def f():\n    return 1\n');
  put(dir, '.gitignore', '*.log\nbuild/\n');
  return { dir, base: commitAll(dir, 'base') };
}

/** An executable that leaves a file behind when anything runs it. */
export function trap(parent: string, name: string): { command: string; sprung: () => boolean } {
  const marker = join(parent, `${name}.ran`);
  const command = join(parent, `${name}.sh`);
  writeFileSync(command, `#!/bin/sh\necho "$0 $*" >> '${marker}'\ncat\n`);
  chmodSync(command, 0o755);
  return { command, sprung: () => existsSync(marker) };
}

const MKFIFO = 'mkfifo';

/** A named pipe, which hangs whoever opens it. */
export function pipe(path: string): void {
  execFileSync(MKFIFO, [path]);
}

/** The tree id that applying a diff to a clean checkout of the base gives. */
export function treeAfter(repo: string, base: string, diff: Uint8Array, parent: string): string {
  const clean = mkdtempSync(join(parent, 'clean-'));
  sh(parent, ['clone', '-q', '--no-local', '--no-checkout', repo, clean]);
  sh(clean, ['fetch', '-q', 'origin', base]);
  sh(clean, ['checkout', '-q', '--detach', base]);
  if (diff.length > 0) sh(clean, ['apply', '--binary', '--index', '--whitespace=nowarn', '-'], diff);
  return sh(clean, ['write-tree']);
}

/** The tree id of the working tree as a person's `git add -A` would record it. */
export function treeNow(dir: string): string {
  const index = join(temporary(), 'index');
  const env = { ...ENV, GIT_INDEX_FILE: index };
  execFileSync('git', ['add', '-A'], { cwd: dir, env, stdio: 'pipe' });
  const tree = execFileSync('git', ['write-tree'], { cwd: dir, env, stdio: 'pipe' }).toString().trim();
  remove(dirname(index));
  return tree;
}
