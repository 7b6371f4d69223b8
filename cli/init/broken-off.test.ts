/** What an init leaves that was broken off, and what odd paths make of what it writes. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Home, layout } from '../../producers/home.ts';
import { openCodePlugin } from './opencode-plugin.ts';
import { ensureReviewer, reviewerPaths } from './reviewer.ts';
import { readReceipt, writeReceipt } from './settings-file.ts';

let home: Home;
beforeEach(() => {
  home = layout(mkdtempSync(join(tmpdir(), 'flipstream-init-')));
});
afterEach(() => rmSync(home.root, { recursive: true, force: true }));

test('a public key of the reviewer that is missing beside the private one is made from it', async () => {
  const { recipient } = await ensureReviewer(home);
  const { identity, recipient: file } = reviewerPaths(home);
  const before = readFileSync(identity, 'utf8');
  rmSync(file);
  expect(await ensureReviewer(home)).toEqual({ recipient, made: true });
  expect(readFileSync(identity, 'utf8')).toBe(before);
  expect(await ensureReviewer(home)).toEqual({ recipient, made: false });
});

test('a receipt that was half written is none', () => {
  const receipt = {
    v: 1,
    file: '/f',
    written: '',
    existed: true,
    insertions: [],
    made: [],
    hook: '',
    url: null,
  } as const;
  writeReceipt(home, { ...receipt, insertions: [], made: [] });
  expect(readReceipt(home, '/f')).toEqual(receipt);
  const [name = ''] = readdirSync(join(home.root, 'init'));
  writeFileSync(join(home.root, 'init', name), '{"v": 1, "fi');
  expect(readReceipt(home, '/f')).toBeNull();
});

test('OpenCode’s plugin runs the hook at the path that it has, whatever is in it', () => {
  const command = ['node', '/home/$&/$\u0060/hook.cjs'];
  expect(openCodePlugin(command)).toContain(`const COMMAND = ${JSON.stringify(command)};`);
});
