import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../testing.ts';

test.skipIf(process.platform === 'win32')('folders that graded code has closed are removed', () => {
  const root = temporaryDirectory();
  chmodSync(root, 0o777);
  // as a user whom closed folders keep out, which root is not
  const script = `
    import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
    import { removeTree } from ${JSON.stringify(new URL('remove-tree.ts', import.meta.url).href)};
    process.chdir(${JSON.stringify(root)});
    if (process.getuid() === 0) process.setuid(65534);
    mkdirSync('run/a/b', { recursive: true });
    writeFileSync('run/a/b/file', '');
    symlinkSync('/', 'run/a/link');
    chmodSync('run/a/b', 0o000);
    chmodSync('run/a', 0o500);
    await removeTree('run');
  `;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(existsSync(join(root, 'run'))).toBe(false);
});
