/**
 * Packs the project, installs the packed copy into an empty folder as a user would, and runs the command there:
 * what is published must work without this checkout.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const UP_MS = 60_000;
const work = mkdtempSync(join(tmpdir(), 'flipstream-pack-'));
const env = {
  ...process.env,
  FLIPSTREAM_HOME: join(work, 'home'),
  FLIPSTREAM_ORACLE_HOME: join(work, 'oracle'),
  CLAUDE_CONFIG_DIR: join(work, 'claude'),
};

/** Runs a program in the empty folder, or fails with what it said. */
function sh(file: string, args: string[], cwd: string): string {
  try {
    return execFileSync(file, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new Error(`check-pack: ${file} ${args.join(' ')} failed:\n${said}`);
  }
}

function expectText(text: string, wanted: string, what: string): void {
  if (!text.includes(wanted)) throw new Error(`check-pack: ${what} printed no "${wanted}":\n${text}`);
}

/** Runs `flipstream up` from the packed copy, with its parts and worker threads, until the work is done. */
async function whileUp(command: string, cwd: string, work: () => void): Promise<void> {
  const up = spawn(command, ['up', '--json'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  up.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const ended = new Promise<number | null>((resolve) => up.once('close', resolve));
  const ready = new Promise<'ready'>((resolve) => up.stdout.once('data', () => resolve('ready')));
  const late = setTimeout(() => up.kill('SIGTERM'), UP_MS);
  try {
    if ((await Promise.race([ready, ended])) !== 'ready')
      throw new Error(`check-pack: flipstream up ended:\n${said}`);
    work();
  } finally {
    clearTimeout(late);
    up.kill('SIGTERM');
  }
  const code = await ended;
  if (code !== 0) throw new Error(`check-pack: flipstream up ended with ${code}:\n${said}`);
}

try {
  sh('npm', ['pack', '--pack-destination', work], ROOT);
  const tarball = readdirSync(work).find((file) => file.endsWith('.tgz'));
  if (!tarball) throw new Error('check-pack: npm pack made no tarball.');
  const listed = sh('tar', ['-tzf', join(work, tarball)], work);
  for (const wanted of ['dist/cli/main.js', 'bin/flipstream.js', 'plugin/hooks/hooks.json'])
    expectText(listed, `package/${wanted}`, 'the packed list');
  const strays = listed
    .split('\n')
    .filter((file) => /\.test\.|\/fixtures\/|\.ts$|package\/tests\//.test(file));
  if (strays.length > 0)
    throw new Error(`check-pack: packed, and should not be: ${strays.slice(0, 5).join(', ')}`);

  const user = join(work, 'user');
  execFileSync('mkdir', [user]);
  writeFileSync(join(user, 'package.json'), '{"private":true,"allowScripts":{"node":true}}\n');
  sh('npm', ['install', '--no-audit', '--no-fund', join(work, tarball)], user);
  const command = join(user, 'node_modules', '.bin', 'flipstream');
  const flipstream = (...args: string[]) => sh(command, args, user);
  expectText(flipstream('--version'), '.', 'flipstream --version');
  expectText(flipstream('init', 'claude-code', '--yes'), 'settings.json', 'flipstream init');
  if (!existsSync(join(work, 'home', 'hook', 'hook.cjs')))
    throw new Error('check-pack: init copied no hook.');
  await whileUp(command, user, () => {
    expectText(flipstream('status'), 'running', 'flipstream status');
    expectText(
      flipstream('sql', '--format', 'json', 'select 41 + 1 as answer from events limit 0'),
      '[',
      'flipstream sql',
    );
  });
  expectText(flipstream('init', 'claude-code', '--undo', '--yes'), 'settings.json', 'flipstream init --undo');
  console.log(`The packed copy (${tarball}) installs into an empty folder and runs.`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
