import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { layout } from '../../producers/home.ts';
import { lockUp } from './lock.ts';

test('one at a time has the home, and the lock is its owner’s alone in a folder that others can open', () => {
  const root = mkdtempSync(join(tmpdir(), 'up-lock-'));
  try {
    chmodSync(root, 0o755);
    const release = lockUp(layout(root));
    expect(statSync(join(root, 'up.lock')).mode & 0o777).toBe(0o600);
    expect(() => lockUp(layout(root))).toThrow(expect.objectContaining({ code: 'up_running' }));
    release();
    lockUp(layout(root))();
    writeFileSync(join(root, 'up.lock'), 'my notes\n'.repeat(200));
    expect(() => lockUp(layout(root))).toThrow(expect.objectContaining({ code: 'lock_unusable' }));
  } finally {
    rmSync(root, { recursive: true });
  }
});
