import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { SpoolEntry } from '../draft.ts';
import type { Home } from '../home.ts';
import { countLoss } from './losses.ts';
import { entryName } from './name.ts';
import { prepareSpool } from './prepare.ts';

/** Kept, or counted as lost: nothing is lost uncounted. `failed`: not even that could be done. */
export type Put = 'kept' | 'lost' | 'failed';

/** The parts of the file system that may fail; tests put faults in. */
export interface Disk {
  write: (path: string, text: string) => void;
  rename: (from: string, to: string) => void;
  syncDirectory: (path: string) => void;
}

/**
 * Puts an entry into the spool so that it survives a crash once this returns (maildir: written to tmp/, synced,
 * renamed into new/, the directory synced). On a full disk the reserved file is freed; when that was used too,
 * the loss is counted. Never throws.
 *
 * @param ms time of capture, which orders entries
 */
export function putEntry(home: Home, entry: SpoolEntry, ms: number, disk: Disk = realDisk): Put {
  const name = entryName(ms);
  const line = JSON.stringify(entry);
  for (const mend of [prepareSpool, freeReserve, null]) {
    try {
      write(home, name, line, disk);
      return 'kept';
    } catch {
      try {
        mend?.(home);
      } catch {
        // then the next try tells
      }
    }
  }
  return countLoss(home) ? 'lost' : 'failed';
}

function write(home: Home, name: string, line: string, disk: Disk): void {
  const temporary = join(home.spool, 'tmp', name);
  const directory = join(home.spool, 'new');
  try {
    disk.write(temporary, line);
    disk.rename(temporary, join(directory, name));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  disk.syncDirectory(directory);
}

/** Gives up the reserved space; the collector makes it again when there is room. */
function freeReserve(home: Home): void {
  rmSync(home.reserve, { force: true });
}

export const realDisk: Disk = {
  write(path, text) {
    const file = openSync(path, 'wx', 0o600);
    try {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  },
  rename: renameSync,
  syncDirectory(path) {
    if (process.platform === 'win32') return;
    const directory = openSync(path, 'r');
    try {
      fsyncSync(directory);
    } finally {
      closeSync(directory);
    }
  },
};
