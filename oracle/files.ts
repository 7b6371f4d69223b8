import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from '../schemas/errors.ts';

function writeSynced(path: string, data: string | Uint8Array): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    const bytes = Buffer.from(data);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function syncDirectory(path: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(path, 'r');
  fsyncSync(fd);
  closeSync(fd);
}

/** Not named by the process: in a container the next one has the same number, and what it left would be in the way. */
const temporary = (path: string) => `${path}.${randomBytes(6).toString('hex')}.tmp`;

/** Writes a private file whole and durably unless it is there already. @returns whether this call made it. */
export function createFile(path: string, data: string | Uint8Array): boolean {
  const temp = temporary(path);
  try {
    writeSynced(temp, data);
    linkSync(temp, path);
    syncDirectory(dirname(path));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(temp, { force: true });
  }
}

/** Writes a private file whole and durably in place of what was there. */
export function replaceFile(path: string, data: string | Uint8Array): void {
  const temp = temporary(path);
  try {
    writeSynced(temp, data);
    renameSync(temp, path);
  } finally {
    rmSync(temp, { force: true });
  }
  syncDirectory(dirname(path));
}
