import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { layout } from '../producers/home.ts';
import { givenEngine } from './engine.ts';
import { reviewerPaths } from './init/reviewer.ts';
import { openLog } from './open-log.ts';

test('a reviewer’s key that is none is told before anything would have to be sealed to it', async () => {
  const root = mkdtempSync(join(tmpdir(), 'flipstream-open-log-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = layout(root);
  const { recipient } = reviewerPaths(home);
  mkdirSync(dirname(recipient), { recursive: true });
  writeFileSync(recipient, 'ssh-ed25519 AAAA');
  const opened = openLog({ home, engine: givenEngine({}, {}) });
  await expect(opened).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining(recipient),
  });
});
