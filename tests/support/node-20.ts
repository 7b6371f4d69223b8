/** A real Node 20, the oldest that the hook and the launcher have to run on: from the PATH, else from npm. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './cache-folder.ts';

const VERSION = '20.20.2';

/** Absolute path of a Node 20, or undefined where `fetchNode20` is still to bring one. */
export function findNode20(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), join(fetched(), 'bin')];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'node'))
    .find((node) => existsSync(node) && isNode20(node));
}

function isNode20(node: string): boolean {
  return /^v20\./.test(spawnSync(node, ['--version'], { encoding: 'utf8', timeout: 10_000 }).stdout ?? '');
}

/** What npm's package `node` installs on this machine: the binary alone, without a script. */
function packageName(): string {
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  return `${prefix}-${process.platform}-${process.arch}`;
}

const fetched = () => join(cacheFolder(), `node-${VERSION}`);

/** Brings one from npm unless there is one. The folder appears whole or not at all. @throws what npm says */
export async function fetchNode20(): Promise<void> {
  if (findNode20()) return;
  mkdirSync(cacheFolder(), { recursive: true });
  const work = mkdtempSync(join(cacheFolder(), 'fetching-'));
  try {
    const wanted = `${packageName()}@${VERSION}`;
    await promisify(execFile)('npm', ['install', '--prefix', work, '--no-audit', '--no-fund', wanted], {
      timeout: 300_000,
    });
    rmSync(fetched(), { recursive: true, force: true });
    renameSync(join(work, 'node_modules', packageName()), fetched());
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
