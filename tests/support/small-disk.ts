/** A file system that is really full: a small tmpfs, mounted for one test. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  path: string;
  /** Takes every byte that is left. */
  fill(): void;
  /** Gives them back. */
  free(): void;
  remove(): void;
}

/** Why there can be no small disk here, or null. */
export function noSmallDisk(): string | null {
  if (process.platform !== 'linux') return 'tmpfs is mounted on Linux only';
  if (process.getuid?.() !== 0) return 'only root may mount a file system';
  try {
    mountSmallDisk(1).remove();
    return null;
  } catch (error) {
    return `a tmpfs cannot be mounted: ${error instanceof Error ? error.message : error}`;
  }
}

export function mountSmallDisk(mebibytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'flipstream-small-disk-'));
  call('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=700`, 'tmpfs', path);
  const fillers = join(path, 'fillers');
  mkdirSync(fillers);
  let made = 0;
  return {
    path,
    fill() {
      const file = openSync(join(fillers, String(made++)), 'w');
      try {
        for (let size = 256 * 1024; size >= 1; size = Math.floor(size / 2))
          writeAll(file, Buffer.alloc(size, 1));
      } finally {
        closeSync(file);
      }
    },
    free: () => {
      rmSync(fillers, { recursive: true });
      mkdirSync(fillers);
    },
    remove() {
      call('umount', '--lazy', path);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

function writeAll(file: number, block: Buffer): void {
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}

function call(command: string, ...args: string[]): void {
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (error || status !== 0) throw new Error(error?.message ?? stderr.trim());
}
