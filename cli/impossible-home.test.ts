import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mainScript } from './package.ts';
import { type Sandbox, sandbox } from './testing.ts';

let box: Sandbox;
beforeAll(() => {
  box = sandbox();
});
afterAll(() => box.remove());

/** In a process of its own: one that would never end could not be stopped in ours. */
test.runIf(existsSync('/proc/self')).each([
  ['pause', '--home', '/proc/nope/home'],
  ['init', 'claude-code', '--yes', '--home', '/proc/nope/home'],
  ['up', '--home', '/proc/nope/home'],
  ['import', '.', '--home', '/proc/nope/home'],
  ['oracle', 'key', 'init', '--oracle-home', '/proc/nope/oracle'],
])(
  'where no folder can be made, %s … ends at once and says so',
  (...argv) => {
    const ran = spawnSync(process.execPath, [mainScript(), ...argv, '--json'], {
      ...{ cwd: box.root, env: box.env, encoding: 'utf8', timeout: 30_000, killSignal: 'SIGKILL' },
    });
    expect(ran).toMatchObject({ status: 2, stdout: '' });
    expect(JSON.parse(ran.stderr)).toMatchObject({
      error: { code: 'folder_impossible', message: expect.stringMatching(/^\/proc\/nope: no folder /) },
    });
  },
  40_000,
);
