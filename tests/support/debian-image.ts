/** Images for tests out of Debian's packages, for engines that cannot pull any. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { docker, installed } from './docker-engine.ts';

export interface DebianImage {
  /** `name:tag` that nobody else gives. */
  name: string;
  packages: readonly string[];
  /** What else is in it: its content goes to the image's root. */
  directory: string;
}

/** @returns the image's id, or null when the engine has none of this name. */
export async function imageId(name: string): Promise<string | null> {
  try {
    return (await docker.getImage(name).inspect()).Id;
  } catch {
    return null;
  }
}

/** @returns why it could not be made, or null. */
export async function makeDebianImage({ name, packages, directory }: DebianImage): Promise<string | null> {
  const missing = existsSync('/usr/bin/mmdebstrap') ? null : installed('mmdebstrap');
  if (missing) return missing;
  const args = [
    '--variant=minbase',
    `--include=${packages.join(',')}`,
    `--customize-hook=sync-in ${directory} /`,
  ];
  const strap = spawn('mmdebstrap', [...args, '--quiet', suite(), '-'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => strap.once('close', resolve));
  const [repo, tag] = name.split(':');
  const progress = await docker.importImage(strap.stdout, { repo, tag });
  await new Promise((resolve, reject) =>
    docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve(null))),
  );
  const status = await ended;
  if (status === 0) return null;
  await docker.getImage(name).remove({ force: true });
  return `mmdebstrap ended with ${status}`;
}

const suite = () => /^VERSION_CODENAME=(.+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'stable';
