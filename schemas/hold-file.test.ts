import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { holdFile } from './hold-file.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hold-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o755);
  return folder;
}

test('one at a time holds it, and it is its owner’s alone in a folder that others can open', () => {
  const path = join(newFolder(), 'lock');
  const release = holdFile(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(holdFile(path)).toBe('busy');
  if (release !== 'busy') release();
  expect(holdFile(path)).not.toBe('busy');
});

test('it is held until the process ends when nobody keeps the release', async () => {
  const path = join(newFolder(), 'lock');
  holdFile(path);
  setFlagsFromString('--expose-gc');
  for (let round = 0; round < 3; round++) {
    await turn();
    runInNewContext('gc()');
  }
  await turn();
  expect(holdFile(path)).toBe('busy');
});

test.each([
  ['a folder in its place', (path: string) => mkdirSync(path), /unable to open/],
  [
    'a file that is no lock',
    (path: string) => writeFileSync(path, 'my notes\n'.repeat(200)),
    /not a database/,
  ],
  ['a folder that is not there', (path: string) => rmSync(join(path, '..'), { recursive: true }), /ENOENT/],
])('%s is no other holder: it is named, with what to do', (_, put, why) => {
  const folder = join(newFolder(), 'home');
  mkdirSync(folder);
  const path = join(folder, 'lock');
  put(path);
  const named = { code: 'lock_unusable', kind: 'usage', message: expect.stringMatching(why) };
  expect(() => holdFile(path)).toThrow(expect.objectContaining(named));
  expect(() => holdFile(path)).toThrow(`${path} cannot be locked`);
});
