import { statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Home } from '../home.ts';
import { readHookSettings } from './hook-settings.ts';

const CONNECT_MS = 250;
/** A collector that was just started needs this long before another try makes sense. */
const STARTING_MS = 10_000;

/** Starts the collector when nobody answers on its socket. Never throws; waits no longer than 250 ms. */
export async function ensureCollector(home: Home, env: NodeJS.ProcessEnv): Promise<void> {
  if (!(await answers(home.collectorSocket))) await startCollector(home, env);
}

async function answers(path: string): Promise<boolean> {
  if (!statSync(path, { throwIfNoEntry: false })) return false;
  const { connect } = await import('node:net');
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (alive: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(alive);
    };
    const timer = setTimeout(() => settle(true), CONNECT_MS); // busy is not dead
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

/** Starts the collector in the background, once in ten seconds; a second one at the same home ends by itself. */
export async function startCollector(home: Home, env: NodeJS.ProcessEnv): Promise<void> {
  const { collector } = readHookSettings(home);
  if (!collector || startedLately(home)) return;
  const { spawn } = await import('node:child_process');
  const root = resolve(home.root);
  try {
    const child = spawn(collector.node, [...collector.cli, 'up', '--role', 'collector', '--home', root], {
      detached: true,
      stdio: 'ignore',
      cwd: root,
      windowsHide: true,
      env: { ...env, FLIPSTREAM_HOME: root },
    });
    child.on('error', () => {});
    child.unref();
  } catch {
    // the entry is in the spool; whoever starts the collector later finds it there
  }
}

function startedLately(home: Home): boolean {
  const mark = join(home.root, 'collector.starting');
  try {
    const stat = statSync(mark, { throwIfNoEntry: false });
    if (stat && Math.abs(Date.now() - stat.mtimeMs) < STARTING_MS) return true;
    writeFileSync(mark, '', { mode: 0o600 });
  } catch {
    // full disk: trying twice does no harm
  }
  return false;
}
