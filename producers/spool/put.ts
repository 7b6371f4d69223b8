import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode } from '../../schemas/errors.ts';
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
  sync: (path: string) => void;
  syncDirectory: (path: string) => void;
}

/**
 * Puts an entry into the spool so that it survives a crash once this returns: written to tmp/, renamed into new/,
 * file and directory synced. Only then, not before the rename as maildir has it: a journal then takes content and
 * name down at once, for half of the wait. What a power cut leaves half in new/ was promised to nobody. On a full
 * disk the reserved file is freed; when that was used too, the loss is counted. Never throws.
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
  const named = join(directory, name);
  try {
    disk.write(temporary, line);
    disk.rename(temporary, named);
    disk.sync(named);
  } catch (error) {
    for (const path of [temporary, named]) rmSync(path, { force: true });
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
      // a drop folder gives its files to the group of the collector, which has to read them whatever the umask is
      if (isDropFolder(dirname(path))) fchmodSync(file, 0o640);
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    } finally {
      closeSync(file);
    }
  },
  rename: renameSync,
  // Gone: the collector has it already. No access: a drop folder, whose names go with the files that were just synced.
  sync: (path) => syncUnless(['ENOENT'], path, 'r+'),
  syncDirectory(path) {
    if (process.platform !== 'win32') syncUnless(['EACCES'], path, 'r');
  },
};

function syncUnless(codes: readonly string[], path: string, flags: 'r' | 'r+'): void {
  let fd: number;
  try {
    fd = openSync(path, flags);
  } catch (error) {
    if (codes.some((code) => hasCode(error, code))) return;
    throw error;
  }
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Whether a folder is one that other users drop files into: theirs is the file, the group is the folder's. */
export function isDropFolder(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o2000) !== 0;
}
