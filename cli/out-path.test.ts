import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { requireFree } from './out-path.ts';

test('nothing is written over, and a typing error makes no folder', () => {
  const root = mkdtempSync(join(tmpdir(), 'flipstream-out-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const at = (name: string) => join(root, name);
  mkdirSync(at('empty'));
  writeFileSync(at('file'), '');
  requireFree(at('new'), 'file');
  requireFree(at('empty'), 'folder');
  const refused = (code: string) => expect.objectContaining({ code, kind: 'usage' });
  for (const [name, wanted] of [
    ['file', 'file'],
    ['file', 'folder'],
    ['empty', 'file'],
  ] as const)
    expect(() => requireFree(at(name), wanted)).toThrow(refused('out_exists'));
  expect(() => requireFree(at('none/new'), 'file')).toThrow(refused('out_nowhere'));
});
