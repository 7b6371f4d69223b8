/** Files that are named on the command line may be pipes, and whoever is to write to one may never come. */
import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pipe } from '../producers/git/testing.ts';
import { layout } from '../producers/home.ts';
import { mainScript } from './package.ts';
import { type Sandbox, sandbox } from './testing.ts';

let box: Sandbox;
beforeEach(async () => {
  box = sandbox();
  await box.flipstream(['init', 'claude-code', '--yes']);
  pipe(join(box.root, 'pipe'));
});
afterEach(() => box.remove());

/** Starts a program that reads the pipe, and is the one that may write to it. */
async function reading(args: readonly string[]) {
  const child = spawn(process.execPath, args, { cwd: box.root, env: box.env, stdio: 'ignore' });
  const ended = new Promise<unknown[]>((resolve) => child.once('close', (...how) => resolve(how)));
  const end = () => openSync(join(box.root, 'pipe'), constants.O_WRONLY | constants.O_NONBLOCK);
  // there is no such end before somebody reads
  const written = await vi.waitFor(end, { timeout: 20_000, interval: 10 });
  return { child, ended, written };
}

const UNSEAL = `
  const { unsealOf } = await import(${JSON.stringify(new URL('./unseal.ts', import.meta.url).href)});
  process.on('SIGTERM', () => {});
  unsealOf({ cwd: process.cwd() }, 'pipe');`;

test.each([
  ['key-ring accept', [mainScript(), 'key-ring', 'accept', 'pipe', '--yes']],
  ['--key-ring', [mainScript(), 'verify', 'bundle', '--key-ring', 'pipe']],
  [
    '--oracle-token-file',
    [mainScript(), 'init', 'claude-code', '--oracle', 'https://o.example', '--oracle-token-file', 'pipe'],
  ],
  ['--identity', ['--input-type=module', '--eval', UNSEAL]],
])('%s waits for a pipe no longer than until it is stopped', async (_, args) => {
  const { child, ended, written } = await reading(args);
  child.kill('SIGTERM');
  const stopped = await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000))]);
  closeSync(written);
  child.kill('SIGKILL');
  expect(stopped).toEqual([null, 'SIGTERM']);
});

test('what is written to a pipe is taken', async () => {
  const { keyRing } = layout(join(box.root, 'home'));
  const ring = readFileSync(keyRing, 'utf8');
  rmSync(keyRing);
  const { ended, written } = await reading([mainScript(), 'key-ring', 'accept', 'pipe', '--yes']);
  writeSync(written, ring);
  closeSync(written);
  expect(await ended).toEqual([0, null]);
  expect(JSON.parse(readFileSync(keyRing, 'utf8'))).toEqual(JSON.parse(ring));
});
