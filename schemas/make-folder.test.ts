import { execFileSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

const FILE = new URL('./make-folder.ts', import.meta.url).href;

test('makes what is missing, closed to others, and leaves what is there as it was', () => {
  const root = mkdtempSync(join(tmpdir(), 'flipstream-folder-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'open'), { mode: 0o755 });
  expect(makeFolder(join(root, 'open', 'a', 'b'))).toBe(true);
  expect(makeFolder(join(root, 'open', 'a', 'b'))).toBe(false);
  const modeOf = (...names: string[]) => statSync(join(root, ...names)).mode & 0o777;
  expect([modeOf('open'), modeOf('open', 'a'), modeOf('open', 'a', 'b')]).toEqual([0o755, 0o700, 0o700]);
  makeFolder(join(root, 'shown', 'a'), 0o755);
  expect([modeOf('shown'), modeOf('shown', 'a')]).toEqual([0o755, 0o755]);
});

test('what is in the way is named: a file, a link to nothing, a name that is too long', () => {
  const root = mkdtempSync(join(tmpdir(), 'flipstream-folder-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, 'file'), '');
  symlinkSync('nothing', join(root, 'link'));
  for (const name of ['file', 'link', 'x'.repeat(300)]) {
    const message = expect.stringContaining(join(root, name));
    const wanted = expect.objectContaining({ code: 'folder_impossible', kind: 'usage', message });
    expect(() => makeFolder(join(root, name, 'a'))).toThrow(wanted);
  }
});

test.runIf(existsSync('/proc/self'))('C1 a home that cannot be made ends at once', () => {
  const code = `import { makeFolder } from ${JSON.stringify(FILE)}; makeFolder('/proc/nope/a/b');`;
  const run = () =>
    execFileSync(process.execPath, ['--input-type=module', '-e', code], { timeout: 20_000, stdio: 'pipe' });
  expect(run).toThrow('ENOENT');
});

const FOLDERS = '{schemas,log,producers,streams,consumers,oracle,warehouse,jobs,cli}/**/*.ts';
const NOT_SHIPPED = /\.test\.ts$|testing|conformance|chaos/;

test('nothing that is shipped makes a folder in the way that may never end', () => {
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const files = globSync(FOLDERS, { cwd }).filter((file) => !NOT_SHIPPED.test(file));
  expect(files.length).toBeGreaterThan(300);
  const bad = /\bmkdir(?:Sync)?\([^;]*?\brecursive:/;
  expect(files.filter((file) => bad.test(readFileSync(join(cwd, file), 'utf8')))).toEqual([]);
});
