import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launcher, packageRoot } from './package.ts';

const root = mkdtempSync(join(tmpdir(), 'flipstream-launcher-'));
const bin = join(root, 'bin', 'flipstream.js');

/** A published package in miniature: the launcher, a program that says how it was started, and a carried Node. */
beforeAll(() => {
  mkdirSync(join(root, 'dist', 'cli'), { recursive: true });
  mkdirSync(join(root, 'node_modules'));
  cpSync(dirname(launcher()), join(root, 'bin'), { recursive: true });
  symlinkSync(join(packageRoot(), 'node_modules', 'node'), join(root, 'node_modules', 'node'));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(root, 'dist', 'cli', 'main.js'),
    `if (process.argv[2] === 'wait') {
       process.on('SIGTERM', () => process.exit(7));
       console.log('ready'); setInterval(() => {}, 1000);
     } else if (process.argv[2] === 'die') process.kill(process.pid, 'SIGKILL');
     else { console.log(process.versions.node + ' ' + process.argv.slice(2).join('|')); process.exitCode = 3; }`,
  );
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const run = (...args: string[]) => spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8' });

test('passes arguments and the exit code through', () => {
  expect(run('a b', '--json')).toMatchObject({ status: 3, stdout: `${process.versions.node} a b|--json\n` });
});

test('starts the carried Node from an older one, passes signals on and says how the child ended', async () => {
  // Pretends to be Node 20 by a preload, so that the test needs no second Node.
  const old = join(root, 'old.cjs');
  writeFileSync(
    old,
    "if (!process.env.CHILD) { process.env.CHILD = '1'; Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } }); }",
  );
  const start = (...args: string[]) =>
    spawn(process.execPath, ['--require', old, bin, ...args], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const said = start('x');
  let text = '';
  said.stdout.on('data', (chunk) => {
    text += chunk;
  });
  expect(await ended(said)).toBe(3);
  expect(text).toBe(`${process.versions.node} x\n`);

  const waiting = start('wait');
  await new Promise((resolve) => waiting.stdout.once('data', resolve));
  waiting.kill('SIGTERM');
  expect(await ended(waiting)).toBe(7);
  expect(await ended(start('die'))).toBe(137);
});

test('says in one sentence what to do when there is no Node to carry on with', () => {
  const bare = join(root, 'bare');
  cpSync(join(root, 'bin'), join(bare, 'bin'), { recursive: true });
  const old = join(root, 'old2.cjs');
  writeFileSync(
    old,
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } });",
  );
  writeFileSync(join(bare, 'package.json'), '{"type":"module"}');
  rmSync(join(root, 'node_modules', 'node'));
  const ran = spawnSync(process.execPath, ['--require', old, join(bare, 'bin', 'flipstream.js')], {
    encoding: 'utf8',
  });
  expect(ran.status).toBe(2);
  expect(ran.stderr).toMatch(/^flipstream: this is Node 20\.1\.0 .* npm rebuild node.*\.\n$/);
});

function ended(child: ReturnType<typeof spawn>): Promise<number | null> {
  return new Promise((resolve) => child.once('close', resolve));
}
