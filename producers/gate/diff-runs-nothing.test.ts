import { chmodSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
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
} from '../git/testing.ts';
import { buildDiff } from './diff.ts';

let root: string;
let repo: Planted;
beforeEach(() => {
  root = temporary();
  repo = repository(root);
});
afterEach(() => remove(root));

const build = () => buildDiff({ worktree: repo.dir, baseCommit: repo.base, path: PATH });
const config = (...args: string[]) => sh(repo.dir, ['config', ...args]);

function hook(folder: string, command: string): void {
  put(folder, 'post-index-change', `#!/bin/sh\nexec ${command} </dev/null\n`);
  chmodSync(join(folder, 'post-index-change'), 0o755);
}

/** Each plants one way of a repository to have its own program run by git, and asks git to prove that it works. */
const WAYS: Record<string, (command: string) => (() => void) | undefined> = {
  'clean and smudge filter': (command) => {
    config('filter.evil.clean', command);
    config('filter.evil.smudge', command);
    config('filter.evil.required', 'true');
    put(repo.dir, '.gitattributes', '* filter=evil\n');
    return () => sh(repo.dir, ['add', '-A']);
  },
  'long-running filter process': (command) => {
    config('filter.evil.process', command);
    put(repo.dir, '.gitattributes', '* filter=evil\n');
    return undefined;
  },
  'filter by .git/info/attributes': (command) => {
    config('filter.evil.clean', command);
    put(repo.dir, '.git/info/attributes', '* filter=evil\n');
    return () => sh(repo.dir, ['add', '-A']);
  },
  'attributes file by configuration': (command) => {
    config('filter.evil.clean', command);
    config('core.attributesFile', join(root, 'attributes'));
    put(root, 'attributes', '* filter=evil\n');
    return () => sh(repo.dir, ['add', '-A']);
  },
  'file system monitor': (command) => {
    config('core.fsmonitor', command);
    return () => sh(repo.dir, ['status']);
  },
  textconv: (command) => {
    config('diff.evil.textconv', command);
    put(repo.dir, '.gitattributes', '* diff=evil\n');
    return () => sh(repo.dir, ['diff']);
  },
  'external diff by attribute': (command) => {
    config('diff.evil.command', command);
    put(repo.dir, '.gitattributes', '* diff=evil\n');
    return () => sh(repo.dir, ['diff']);
  },
  'external diff for all': (command) => {
    config('diff.external', command);
    return () => sh(repo.dir, ['diff']);
  },
  'include of another file': (command) => {
    put(root, 'more', `[core]\n\tfsmonitor = ${command}\n`);
    config('include.path', join(root, 'more'));
    return () => sh(repo.dir, ['status']);
  },
  'conditional include': (command) => {
    put(root, 'more', `[core]\n\tfsmonitor = ${command}\n`);
    config(`includeIf.gitdir:${repo.dir}/.path`, join(root, 'more'));
    return () => sh(repo.dir, ['status']);
  },
  "the working tree's own configuration": (command) => {
    config('extensions.worktreeConfig', 'true');
    put(repo.dir, '.git/config.worktree', `[core]\n\tfsmonitor = ${command}\n`);
    return () => sh(repo.dir, ['status']);
  },
  hooks: (command) => {
    hook(join(repo.dir, '.git/hooks'), command);
    return () => sh(repo.dir, ['add', '-A']);
  },
  'hooks by configuration': (command) => {
    hook(join(repo.dir, 'my-hooks'), command);
    config('core.hooksPath', join(repo.dir, 'my-hooks'));
    return () => sh(repo.dir, ['add', '-A']);
  },
  'a pager, an editor, an ssh command, a credential helper, an alias': (command) => {
    for (const key of ['core.pager', 'core.editor', 'core.sshCommand', 'credential.helper', 'pager.diff']) {
      config(key, command);
    }
    config('alias.ls-files', `!${command}`);
    return undefined;
  },
};

test.each(Object.entries(WAYS))('nothing of the repository runs: %s', async (_, plant) => {
  put(repo.dir, 'a.txt', 'two\n');
  const proof = trap(root, 'proof');
  plant(proof.command)?.();
  const live = trap(root, 'live');
  plant(live.command);
  expect((await build()).diff.toString()).toContain('two');
  expect(live.sprung()).toBe(false);
});

test('the traps work: git run plainly springs them', () => {
  for (const [name, plant] of Object.entries(WAYS)) {
    remove(root);
    repo = repository(root);
    put(repo.dir, 'a.txt', 'two\n');
    const live = trap(root, 'live');
    const asPlain = plant(live.command);
    try {
      asPlain?.();
    } catch {
      // a program that git runs and that answers nonsense may make git fail; it ran
    }
    if (asPlain) expect([name, live.sprung()]).toEqual([name, true]);
  }
});

test('nothing of a submodule or a nested repository runs', async () => {
  const live = trap(root, 'live');
  const inner = repository(root, 'inner');
  sh(repo.dir, ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'sub']);
  repo.base = commitAll(repo.dir);
  repository(repo.dir, 'nested');
  for (const dir of ['sub', 'nested']) {
    sh(join(repo.dir, dir), ['config', 'core.fsmonitor', live.command]);
    sh(join(repo.dir, dir), ['config', 'filter.evil.clean', live.command]);
    put(repo.dir, `${dir}/.gitattributes`, '* filter=evil\n');
    put(repo.dir, `${dir}/a.txt`, 'dirty\n');
  }
  expect((await build()).missing).toBeUndefined();
  expect(live.sprung()).toBe(false);
});

test('a program named git inside the project, on PATH, is not taken for git', async () => {
  const live = trap(root, 'live');
  put(repo.dir, 'bin/git', `#!/bin/sh\nexec ${live.command} </dev/null\n`);
  chmodSync(join(repo.dir, 'bin/git'), 0o755);
  const path = ['bin', join(repo.dir, 'bin'), PATH].join(delimiter);
  const built = await buildDiff({ worktree: repo.dir, baseCommit: repo.base, path });
  expect(built.missing).toBeUndefined();
  expect(live.sprung()).toBe(false);
});

test('the project is left as it was, and nothing lies about afterwards', async () => {
  const own = join(root, 'tmp');
  mkdirSync(own);
  vi.stubEnv('TMPDIR', own);
  put(repo.dir, 'new', 'n\n');
  const state = () =>
    [['status', '--porcelain'], ['count-objects', '-v'], ['show-ref']].map((args) => sh(repo.dir, args));
  const before = state();
  expect((await build()).missing).toBeUndefined();
  expect(state()).toEqual(before);
  rmSync(join(repo.dir, '.git'), { recursive: true });
  mkdirSync(join(own, 'flipstream-git-stale'));
  utimesSync(join(own, 'flipstream-git-stale'), 0, 0);
  sh(repo.dir, ['init', '-q']);
  expect((await build()).missing).toBe('no_base');
  expect(readdirSync(own)).toEqual([]);
  vi.unstubAllEnvs();
});
