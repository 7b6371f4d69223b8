import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { layout } from '../../producers/home.ts';
import { readSettings } from '../../producers/settings.ts';
import { type Sandbox, sandbox } from '../testing.ts';

let box: Sandbox;
let file: string;
beforeEach(() => {
  box = sandbox();
  file = join(box.root, 'claude', 'settings.json');
});
afterEach(() => box.remove());

const THEIRS =
  '{\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},\n\t"model": "opus"\n}';
const write = (text: string) => {
  mkdirSync(join(box.root, 'claude'), { recursive: true });
  writeFileSync(file, text);
};
const init = (...flags: string[]) => box.flipstream(['init', 'claude-code', ...flags]);

test('shows the change, makes it, is idempotent, and undo gives the same bytes back', async () => {
  write(THEIRS);
  const first = await init('--yes');
  expect(first).toMatchObject({ code: 0 });
  expect(first.err).toContain('--registration settings');
  const written = readFileSync(file, 'utf8');
  expect(JSON.parse(written).hooks.Stop).toHaveLength(2);
  expect(await init('--yes')).toMatchObject({ code: 0, err: '' });
  expect(readFileSync(file, 'utf8')).toBe(written);
  expect(await init('--undo', '--yes')).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).toBe(THEIRS);
  expect((await init('--undo', '--yes')).out).toContain('nothing of ours');
});

test('asks, and changes nothing without a yes', async () => {
  write(THEIRS);
  expect(await init()).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
  expect(await box.flipstream(['init', 'claude-code'], 'n\n')).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).toBe(THEIRS);
  expect(existsSync(join(box.root, 'home'))).toBe(false);
  expect(await box.flipstream(['init', 'claude-code'], 'y\n')).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).not.toBe(THEIRS);
});

test('a broken settings file gets one sentence and is not touched', async () => {
  write('{"hooks": ');
  const ran = await init('--yes');
  expect(ran.code).toBe(2);
  expect(ran.err.trim().split('\n')).toEqual([expect.stringContaining(file)]);
  expect(readFileSync(file, 'utf8')).toBe('{"hooks": ');
  expect((await init('--yes', '--json')).err).toContain('"code":"settings_broken"');
});

test('makes keys, tokens and the local oracle closed to others, with our key in the ring', async () => {
  await init('--yes');
  const home = layout(join(box.root, 'home'));
  const settings = readSettings(home);
  expect(settings.oracle?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(JSON.parse(readFileSync(home.keyRing, 'utf8')).keys[0].runners).toEqual(['process']);
  for (const path of [
    home.root,
    home.config,
    join(home.root, 'keys', 'reviewer.key'),
    join(box.root, 'oracle'),
  ])
    expect(statSync(path).mode & 0o077, path).toBe(0);
  expect(readFileSync(home.hook)).toEqual(
    readFileSync(new URL('../../plugin/dist/hook.cjs', import.meta.url)),
  );
  await init('--yes');
  expect(readSettings(home).oracle).toEqual(settings.oracle);
  await init('--yes', '--rotate');
  expect(readSettings(home).oracle?.token).not.toBe(settings.oracle?.token);
  expect(readSettings(home).oracle?.url).toBe(settings.oracle?.url);
});

test('over HTTP the token is in the user settings only, never on the screen, and rotates', async () => {
  write(THEIRS);
  const ran = await init('--yes', '--transport', 'http', '--force');
  const home = layout(join(box.root, 'home'));
  const token = readSettings(home).http?.token ?? 'none';
  expect(readFileSync(file, 'utf8')).toContain(`Bearer ${token}`);
  expect(ran.out + ran.err).not.toContain(token);
  const again = await init('--yes', '--transport', 'http', '--force', '--rotate');
  expect(again.out + again.err).not.toContain(token);
  expect(readFileSync(file, 'utf8')).not.toContain(token);
  expect(await init('--yes', '--transport', 'http', '--force', '--project')).toMatchObject({ code: 2 });
  await init('--yes', '--transport', 'command');
  expect(readFileSync(file, 'utf8')).not.toContain('Bearer');
  await init('--undo', '--yes');
  expect(readFileSync(file, 'utf8')).toBe(THEIRS);
});

test('writes through a symbolic link and leaves no temporary file', async () => {
  mkdirSync(join(box.root, 'claude'));
  mkdirSync(join(box.root, 'dotfiles'));
  writeFileSync(join(box.root, 'dotfiles', 's.json'), THEIRS);
  symlinkSync(join(box.root, 'dotfiles', 's.json'), file);
  await init('--yes');
  expect(readFileSync(join(box.root, 'dotfiles', 's.json'), 'utf8')).toContain('hook.cjs');
  expect(readdirSync(join(box.root, 'dotfiles'))).toEqual(['s.json']);
  expect(readdirSync(join(box.root, 'claude'))).toEqual(['settings.json']);
});

test('bad flags are one sentence and exit 2', async () => {
  for (const flags of [
    ['--transport', 'carrier-pigeon'],
    ['--settings', 'a', '--project'],
    ['--oracle', 'http://x'],
    ['--nope'],
  ]) {
    const ran = await init('--yes', ...flags);
    expect(ran, flags.join(' ')).toMatchObject({ code: 2, out: '' });
  }
});
