import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FlipstreamError } from '../schemas/errors.ts';
import { buildDiff } from './gate/diff.ts';
import { commitAll, PATH, type Planted, put, remove, repository, sh, temporary } from './git/testing.ts';
import { type Home, layout } from './home.ts';
import { sessionStartFacts } from './session-start.ts';
import { type TaskStartInput, taskStart } from './task-start.ts';

let root: string;
let home: Home;
let upstream: Planted;
let rootCommit: string;
let oracle: Server;
let url: string;
let refs: string[];
let told: Record<string, unknown>;
beforeEach(async () => {
  root = temporary();
  home = layout(join(root, 'home'));
  upstream = repository(root, 'upstream');
  rootCommit = sh(upstream.dir, ['rev-list', '--max-parents=0', 'HEAD']);
  sh(upstream.dir, ['branch', 'base']);
  put(upstream.dir, 'a.txt', 'fixed\n');
  commitAll(upstream.dir);
  refs = ['base'];
  told = { task_id: 'team/task-1', base_commit: upstream.base, root_commit: rootCommit, mirror: '/x' };
  oracle = createServer((request, response) => {
    if (request.headers.authorization !== 'Bearer good') response.statusCode = 401;
    else if (request.url === '/v1/tasks/team%2Ftask-1') response.write(JSON.stringify(told));
    else if (request.url === '/v1/tasks/team%2Ftask-1/bundle') {
      const file = join(root, 'b.bundle');
      sh(upstream.dir, ['bundle', 'create', '-q', file, ...refs]);
      response.write(readFileSync(file));
    } else response.statusCode = 404;
    response.end();
  });
  await new Promise<void>((resolve) => oracle.listen(0, '127.0.0.1', resolve));
  const address = oracle.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterEach(async () => {
  oracle.closeAllConnections();
  await new Promise((resolve) => oracle.close(resolve));
  remove(root);
});

const begin = (over: Partial<TaskStartInput> = {}) =>
  taskStart({
    taskId: 'team/task-1',
    directory: join(root, 'work'),
    oracle: { url, token: 'good' },
    home,
    clock: () => 0,
    path: PATH,
    ...over,
  });
const refusal = async (over: Partial<TaskStartInput>) => {
  const error: unknown = await begin(over).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(FlipstreamError);
  return error instanceof FlipstreamError ? error.code : undefined;
};

test('O4 the clone holds the base and its ancestors, and nothing newer to read the fix from', async () => {
  const seen: number[] = [];
  const started = await begin({ maxAttempts: 4, onBytes: (bytes) => seen.push(bytes) });
  const dir = join(root, 'work');
  expect(started).toEqual({ task_id: 'team/task-1', directory: dir, base_commit: upstream.base });
  expect(sh(dir, ['rev-parse', 'HEAD'])).toBe(upstream.base);
  expect(sh(dir, ['branch', '--show-current'])).toBe('main');
  expect(sh(dir, ['rev-list', '--count', '--all'])).toBe('2');
  expect(sh(dir, ['remote'])).toBe('');
  expect(sh(dir, ['status', '--porcelain'])).toBe('');
  expect(existsSync(join(dir, '.git/logs'))).toBe(false);
  expect(existsSync(join(dir, '.git/hooks'))).toBe(false);
  expect(seen.length).toBeGreaterThan(0);
  const config: unknown = JSON.parse(readFileSync(join(dir, '.flipstream/config.json'), 'utf8'));
  expect(config).toEqual({ task_id: 'team/task-1', base_commit: upstream.base, max_attempts: 4 });
});

test('a session in the clone is dispatched, at its base, clean, without a visible future; the config is no diff', async () => {
  await begin();
  const cwd = join(root, 'work');
  const { fields, message } = await sessionStartFacts({
    cwd,
    home,
    path: PATH,
    sessionId: 's',
    budgetMs: 20_000,
  });
  expect(message).toBeNull();
  expect(fields).toMatchObject({
    task_id: 'team/task-1',
    task_source: 'dispatch',
    base_commit: upstream.base,
    root_commit: rootCommit,
    tree_hash: 'clean',
    inherited: false,
    history_visible: false,
    _base_matches: true,
  });
  put(cwd, '.claude/settings.local.json', '{}');
  const built = await buildDiff({ worktree: cwd, baseCommit: upstream.base, path: PATH });
  expect([built.missing, built.diff.length]).toEqual([undefined, 0]);
});

test('a bundle with anything newer is refused, and nothing is left behind', async () => {
  refs = ['base', 'main'];
  expect(await refusal({})).toBe('task_repository_unusable');
  expect(existsSync(join(root, 'work'))).toBe(false);
});

test('a bundle of another repository is refused', async () => {
  told.root_commit = upstream.base;
  expect(await refusal({})).toBe('task_repository_unusable');
});

test('a folder that is in use, a task nobody knows, a wrong token, no oracle: one sentence each', async () => {
  put(root, 'work/mine', 'precious');
  expect(await refusal({})).toBe('directory_not_empty');
  expect(readFileSync(join(root, 'work/mine'), 'utf8')).toBe('precious');
  const directory = join(root, 'other');
  expect(await refusal({ directory, taskId: 'nope' })).toBe('task_unknown');
  expect(await refusal({ directory, oracle: { url, token: 'bad' } })).toBe('oracle_refused');
  expect(await refusal({ directory, oracle: { url: 'http://127.0.0.1:1', token: 'x' } })).toBe(
    'oracle_unreachable',
  );
  expect(await refusal({ directory, path: root })).toBe('no_git');
  told.base_commit = 'HEAD';
  expect(await refusal({ directory })).toBe('oracle_refused');
  expect(existsSync(directory)).toBe(false);
});

test('one that is stopped leaves nothing of the clone', async () => {
  const stop = new AbortController();
  await expect(
    begin({ signal: stop.signal, onBytes: () => setImmediate(() => stop.abort()) }),
  ).rejects.toThrow();
  expect(existsSync(join(root, 'work'))).toBe(false);
});
