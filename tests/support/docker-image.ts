/** The image that the container tests grade in: Debian with git, Python and pytest, this Node, vitest, jest and Go. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { imageId, makeDebianImage } from './debian-image.ts';
import { ensureEngine } from './docker-engine.ts';

const PACKAGES = ['git', 'python3-pytest', 'libfaketime', 'golang-go', 'ca-certificates'];
const MANIFEST = fileURLToPath(new URL('../image/', import.meta.url));

/** Another recipe makes another image; an image that is there is not made again. */
const TAG = `flipstream-test:${createHash('sha256')
  .update(
    JSON.stringify([PACKAGES, process.version, readFileSync(join(MANIFEST, 'package-lock.json'), 'utf8')]),
  )
  .digest('hex')
  .slice(0, 16)}`;

/** @returns the image's id, or null before `ensureImage` has made it. */
export const testImage = (): Promise<string | null> => imageId(TAG);

/** Makes engine and image. @returns why it could not, or null. */
export async function ensureImage(): Promise<string | null> {
  const none = await ensureEngine();
  if (none || (await testImage()) !== null) return none;
  const directory = mkdtempSync(join(tmpdir(), 'flipstream-image-'));
  try {
    return fill(directory) ?? (await makeDebianImage({ name: TAG, packages: PACKAGES, directory }));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What the image has beside Debian: the Node that runs us, and packages of npm. */
function fill(directory: string): string | null {
  mkdirSync(join(directory, 'usr/local/bin'), { recursive: true });
  cpSync(process.execPath, join(directory, 'usr/local/bin/node'));
  for (const name of ['package.json', 'package-lock.json'])
    cpSync(join(MANIFEST, name), join(directory, name));
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: directory, encoding: 'utf8' });
  return npm.status === 0 ? null : `npm ci in tests/image: ${npm.error?.message ?? npm.stderr.trim()}`;
}

/** @returns why the container tests are skipped here, or null. @throws where none may be skipped (CI). */
export async function noContainers(): Promise<string | null> {
  const why = await ensureImage();
  if (why && process.env.CI) throw new Error(`CI may not skip this: ${why}`);
  return why;
}
