import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../schemas/hash.ts';
import { buildDiff } from './gate/diff.ts';
import { writeDispatch } from './gate/dispatch.ts';
import { recallSession } from './gate/session-file.ts';
import { repositoryAt } from './git/repository.ts';
import {
  commitAll,
  PATH,
  type Planted,
  put,
  remove,
  repository,
  sh,
  temporary,
  trap,
} from './git/testing.ts';
import { type Home, layout } from './home.ts';
import { type SessionStartInput, sessionStartFacts, sessionStartOutput } from './session-start.ts';

let root: string;
let home: Home;
let repo: Planted;
beforeEach(() => {
  root = temporary();
  home = layout(join(root, 'home'));
  repo = repository(root);
  rmSync(join(repo.dir, '.git/logs'), { recursive: true });
});
afterEach(() => remove(root));

const start = (over: Partial<SessionStartInput> = {}) =>
  sessionStartFacts({ cwd: repo.dir, home, path: PATH, sessionId: 's1', budgetMs: 20_000, ...over });
const facts = async (over: Partial<SessionStartInput> = {}) => (await start(over)).fields;
const task = (config: object) => put(repo.dir, '.flipstream/config.json', JSON.stringify(config));
const rootOf = () => sh(repo.dir, ['rev-list', '--max-parents=0', repo.base]);

function dispatched(base = repo.base): void {
  const found = repositoryAt(repo.dir);
  if (!found) throw new Error('no repository');
  writeDispatch(home, found, { task_id: 'task-1', base_commit: base, root_commit: rootOf() }, 0);
}

describe('the place a session starts in', () => {
  test('a clean clone, from a folder inside it', async () => {
    sh(repo.dir, ['config', 'remote.origin.url', 'https://me:secret@host/x.git']);
    expect(await start({ cwd: join(repo.dir, 'src') })).toEqual({
      fields: {
        cwd: join(repo.dir, 'src'),
        base_commit: repo.base,
        root_commit: rootOf(),
        remote_url_hash: sha256('https://host/x.git'),
        task_id: null,
        task_source: null,
        tree_hash: 'clean',
        inherited: false,
        history_visible: false,
        config_hash: null,
        _worktree: repo.dir,
        _max_attempts: 6,
        _base_matches: null,
      },
      message: null,
    });
  });

  test('inherited: a tree that is not the base, by edits, new files or staging; not by ignored ones', async () => {
    put(repo.dir, 'noise.log', 'x');
    expect(await facts()).toMatchObject({ tree_hash: 'clean', inherited: false });
    put(repo.dir, 'a.txt', 'two\n');
    const hash = (await buildDiff({ worktree: repo.dir, baseCommit: repo.base, path: PATH })).diffHash;
    expect(await facts()).toMatchObject({ tree_hash: hash, inherited: true });
    sh(repo.dir, ['checkout', '-q', 'a.txt']);
    put(repo.dir, 'new', 'n');
    expect(await facts()).toMatchObject({ inherited: true });
    sh(repo.dir, ['add', 'new']);
    expect(await facts()).toMatchObject({ inherited: true, history_visible: true });
  });

  test('inherited: after a compaction nobody asks; a tree too large to hash is not the base', async () => {
    put(repo.dir, 'a.txt', 'two\n');
    expect(await facts({ source: 'compact' })).toMatchObject({ tree_hash: 'unknown', inherited: null });
    put(repo.dir, 'huge', Buffer.alloc(9 * 1024 * 1024));
    expect(await facts()).toMatchObject({ tree_hash: 'unknown', inherited: true });
  });

  test('out of time: unknown, not clean', async () => {
    expect(await facts({ budgetMs: 1 })).toMatchObject({ inherited: null, history_visible: null });
  });

  test('history_visible: a newer commit on another branch', async () => {
    sh(repo.dir, ['checkout', '-q', '-b', 'fix']);
    put(repo.dir, 'a.txt', 'fixed\n');
    commitAll(repo.dir);
    sh(repo.dir, ['checkout', '-q', 'main']);
    expect(await facts()).toMatchObject({ history_visible: true, inherited: false });
  });

  test('no repository, no commit, no folder, no git', async () => {
    const nothing = {
      base_commit: null,
      root_commit: null,
      tree_hash: null,
      inherited: null,
      history_visible: null,
    };
    expect(await facts({ cwd: root })).toMatchObject({ ...nothing, _worktree: null });
    expect(await facts({ cwd: join(root, 'gone') })).toMatchObject(nothing);
    expect(await facts({ path: root })).toMatchObject({ ...nothing, _worktree: repo.dir });
    mkdirSync(join(root, 'empty'));
    sh(join(root, 'empty'), ['init', '-q']);
    expect(await facts({ cwd: join(root, 'empty') })).toMatchObject(nothing);
  });

  test('nothing of the repository runs', async () => {
    const live = trap(root, 'live');
    for (const key of [
      'core.fsmonitor',
      'filter.x.clean',
      'filter.x.process',
      'diff.external',
      'core.pager',
    ]) {
      sh(repo.dir, ['config', key, live.command]);
    }
    put(repo.dir, '.gitattributes', '* filter=x\n');
    put(repo.dir, 'a.txt', 'two\n');
    expect(await facts()).toMatchObject({ inherited: true });
    expect(live.sprung()).toBe(false);
  });
});

describe('the task', () => {
  test('a hand-written config is task_source project; its wish for attempts is capped', async () => {
    task({ task_id: 'task-1', max_attempts: 99 });
    expect(await facts()).toMatchObject({
      task_id: 'task-1',
      task_source: 'project',
      tree_hash: 'clean',
      _max_attempts: 20,
      _base_matches: null,
    });
  });

  test('dispatch is what task start recorded outside, whatever the project file says', async () => {
    dispatched();
    task({ task_id: 'easier', base_commit: null });
    expect(await facts()).toMatchObject({ task_id: 'task-1', task_source: 'dispatch', _base_matches: true });
    rmSync(join(repo.dir, '.flipstream'), { recursive: true });
    expect(await facts()).toMatchObject({ task_id: 'task-1', task_source: 'dispatch' });
    const side = join(root, 'side');
    sh(repo.dir, ['worktree', 'add', '-q', side]);
    expect(await facts({ cwd: side })).toMatchObject({ task_source: 'dispatch' });
  });

  test('a copy, or another clone put in its place, is no dispatch', async () => {
    dispatched();
    sh(root, ['clone', '-q', repo.dir, 'copy']);
    expect(await facts({ cwd: join(root, 'copy') })).toMatchObject({ task_id: null, task_source: null });
    rmSync(join(repo.dir, '.git'), { recursive: true });
    sh(repo.dir, ['init', '-q']);
    commitAll(repo.dir);
    task({ task_id: 'task-1' });
    expect(await facts()).toMatchObject({ task_source: 'project' });
  });

  test('HEAD is not the base: the person is told in one sentence, and the session is no flip', async () => {
    dispatched();
    put(repo.dir, 'a.txt', 'two\n');
    commitAll(repo.dir);
    const started = await start();
    const { fields, message } = started;
    expect(JSON.parse(sessionStartOutput(started))).toEqual({ systemMessage: message });
    expect(sessionStartOutput({ fields, message: null })).toBe('');
    expect(fields).toMatchObject({ _base_matches: false, inherited: true, tree_hash: 'clean' });
    expect(message).toMatch(
      /^flipstream: this session will not be graded, because [^.]*`flipstream task start task-1`[^.]*\.$/,
    );
    expect((await start({ cwd: repo.dir })).message).toBe(message);
  });

  test('a shallow clone, and a place without a commit, are told as well', async () => {
    sh(root, ['clone', '-q', '--depth=1', `file://${repo.dir}`, 'shallow']);
    put(root, 'shallow/.flipstream/config.json', '{"task_id":"task-1"}');
    const { fields, message } = await start({ cwd: join(root, 'shallow') });
    expect([fields.root_commit, message]).toEqual([null, expect.stringMatching(/this clone is shallow/)]);
    put(root, 'plain/.flipstream/config.json', '{"task_id":"task-1"}');
    expect((await start({ cwd: join(root, 'plain') })).message).toMatch(/no commit here/);
    expect((await start({ cwd: root })).message).toBeNull();
  });

  test('what the first start found is kept; a later one changes nothing', async () => {
    task({ task_id: 'task-1' });
    await start();
    task({ task_id: 'other' });
    await start({ source: 'resume' });
    expect(recallSession(home, 's1')).toEqual({
      task_id: 'task-1',
      base_commit: repo.base,
      worktree: repo.dir,
      base_matches: null,
    });
  });

  test('a bad config is named to the person', async () => {
    put(repo.dir, '.flipstream/config.json', '{');
    expect((await start()).message).toMatch(/config\.json is not a JSON object/);
  });
});
