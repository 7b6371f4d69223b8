/** The oldest Node that a person may have: the plugin runs the hook on whatever `node` is on the PATH, and `npm run` the command. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordedOf } from '../../producers/adapters/sample-payloads.ts';
import { BLOCK_OUTPUT } from '../../producers/gate/gate.ts';
import { rememberSession } from '../../producers/gate/session-file.ts';
import { commitAll, put, repository } from '../../producers/git/testing.ts';
import { type Home, layout } from '../../producers/home.ts';
import { hookProcess, spooled } from '../../producers/hook/testing.ts';
import { findNode20 } from '../support/node-20.ts';

const node = findNode20() ?? '';
if (node === '')
  process.stderr.write('node-20: skipped, there is no Node 20 (tests/real/prepare.ts says why)\n');
const on20 = test.skipIf(node === '');

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flipstream-node20-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** With a hash key that all have, so that equal payloads become equal entries. */
function homeNamed(name: string): Home {
  const home = layout(join(root, name));
  mkdirSync(dirname(home.hashKey), { recursive: true });
  writeFileSync(home.hashKey, Buffer.alloc(32, 7));
  return home;
}

/** What a hook left, but for when. */
const told = (home: Home) => spooled(home).map(({ ts: _, ...entry }) => entry);

on20('every payload of Claude Code becomes what it becomes on our own Node', async () => {
  const payloads = recordedOf('claude-code');
  expect(payloads.length).toBeGreaterThan(10);
  const [old, ours] = [homeNamed('old'), homeNamed('ours')];
  for (const payload of payloads) {
    const text = JSON.stringify(payload);
    const [ran] = await Promise.all([hookProcess(old, text, { node }), hookProcess(ours, text)]);
    expect(ran, text).toMatchObject({ code: 0, stdout: '', stderr: '' });
  }
  expect(told(old)).toHaveLength(payloads.length);
  expect(told(old)).toEqual(told(ours));
});

on20('a session starts with what git says of its place, and a stop is held', async () => {
  const repo = repository(root);
  put(repo.dir, 'CLAUDE.md', 'Be brief.');
  commitAll(repo.dir);
  const home = homeNamed('home');
  const hook = (event: object) =>
    hookProcess(home, JSON.stringify({ session_id: 's', cwd: repo.dir, ...event }), { node });
  expect(await hook({ hook_event_name: 'SessionStart', source: 'startup' })).toMatchObject({ code: 0 });
  expect(told(home)[0]?.drafts[0]?.fields).toMatchObject({
    tree_hash: 'clean',
    base_commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    config_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  rememberSession(home, 'task', {
    ...{ task_id: 'task-1', base_commit: repo.base, worktree: repo.dir, base_matches: true },
  });
  expect(await hook({ session_id: 'task', hook_event_name: 'Stop' })).toEqual(
    expect.objectContaining({ code: 0, stdout: BLOCK_OUTPUT, stderr: '' }),
  );
});

interface Said {
  code: unknown;
  out: string;
  err: string;
}

/** With this Node first on the PATH, as on the machine of somebody who has no other. */
function onPath(program: string, args: string[]): Promise<Said> {
  const bin = join(root, 'bin');
  mkdirSync(bin);
  symlinkSync(node, join(bin, 'node'));
  const env = {
    ...{ PATH: `${bin}${delimiter}${process.env.PATH}`, HOME: root, XDG_STATE_HOME: root, TMPDIR: root },
  };
  return new Promise((resolve) => {
    execFile(program, args, { env, cwd: ROOT }, (error, out, err) =>
      resolve({ code: error ? error.code : 0, out, err }),
    );
  });
}

on20('npm run demo, from the start to the flip', async () => {
  const { code, out, err } = await onPath('npm', ['run', 'demo']);
  expect(code, err).toBe(0);
  expect(out).toContain('demo-split-bill');
  expect(out).toContain('flipped');
});

on20('the launcher of the package starts the Node that came with it', async () => {
  const { code, out, err } = await onPath(join(ROOT, 'bin', 'flipstream.js'), [
    'harnesses',
    '--json',
    '--home',
    join(root, 'home'),
  ]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(out)).toBeTruthy();
});
