import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../schemas/make-folder.ts';
import type { Home } from '../home.ts';
import { LOSSES_BYTES } from './losses.ts';

/** Space for some hundreds of entries when the disk is full. */
export const RESERVE_BYTES = 2 * 1024 * 1024;

/**
 * Makes the spool's directories, the reserved file and the preallocated count of losses where they are missing.
 * Hooks do it at a session's start, the collector whenever it has drained. A file that cannot be made for want
 * of space is left out, with nothing half made of it.
 * @throws when the directories cannot be made
 */
export function prepareSpool(home: Home): void {
  for (const name of ['tmp', 'new']) makeFolder(join(home.spool, name));
  allocate(home.losses, LOSSES_BYTES, 0);
  allocate(home.reserve, RESERVE_BYTES, 0x2e);
}

/** Real blocks, not a hole: written, synced, then named. */
function allocate(path: string, bytes: number, fill: number): void {
  if (existsSync(path)) return;
  const fresh = `${path}.${process.pid}`;
  try {
    const file = openSync(fresh, 'w', 0o600);
    try {
      const block = Buffer.alloc(bytes, fill);
      for (let at = 0; at < bytes; ) at += writeSync(file, block, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (existsSync(path)) rmSync(fresh, { force: true });
    else renameSync(fresh, path);
  } catch {
    rmSync(fresh, { force: true });
  }
}
