import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import { SpoolEntry } from '../draft.ts';
import type { Home } from '../home.ts';

/** What a name stands for: an entry and the id of the user whose file it is; nothing any more; or no entry that this release can read. */
type Found = { entry: SpoolEntry; uid: number } | 'gone' | 'unusable';

/** The collector's view of the spool: entries in the order of their names, which is the order of capture. */
export interface SpoolFiles {
  directory: string;
  /** Without gaps: whatever was there before the last of them came is among them. */
  list(): string[];
  read(name: string): Found;
  /** Deletes files, durably. */
  remove(names: readonly string[]): void;
  /** Keeps an entry that cannot be read beside the others, for a person to look at. */
  setAside(name: string): void;
}

/** No hook writes more; what is larger is no entry of ours. */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024;

export function openSpool(home: Home): SpoolFiles {
  const directory = join(home.spool, 'new');
  const bad = join(home.spool, 'bad');
  for (const path of [join(home.spool, 'tmp'), directory]) makeFolder(path);
  // What an older release could not read is for the one that starts now.
  for (const name of existsSync(bad) ? readdirSync(bad) : [])
    renameSync(join(bad, name), join(directory, name));
  return {
    directory,
    list() {
      // A large folder is not read at one instant: it may show an entry and not the one before it. What came
      // before the last of one reading has come before the next reading begins.
      const last = entriesIn(directory).at(-1);
      return last === undefined ? [] : entriesIn(directory).filter((name) => name <= last);
    },
    read: (name) => readEntry(join(directory, name)),
    remove(names) {
      for (const name of names) {
        try {
          unlinkSync(join(directory, name));
        } catch (error) {
          if (!isGone(error)) throw error;
        }
      }
      syncDirectory(directory);
    },
    setAside(name) {
      makeFolder(bad);
      try {
        renameSync(join(directory, name), join(bad, name));
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    },
  };
}

function entriesIn(directory: string): string[] {
  return (
    readdirSync(directory, { withFileTypes: true })
      // a folder in a drop folder is nobody's entry, and its maker's alone to move
      .filter((found) => found.name.endsWith('.json') && !found.isDirectory())
      .map(({ name }) => name)
      .sort()
  );
}

/** What the whole machine lacks for a moment is no fault of an entry's. */
const PASSING = ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO'] as const;

/** The spool may be a folder that others write to: only a plain file of a sane size is read, and its owner is the opened file's. */
function readEntry(path: string): Found {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (PASSING.some((code) => hasCode(error, code))) throw error;
    return isGone(error) ? 'gone' : 'unusable';
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > MAX_ENTRY_BYTES) return 'unusable';
    const parsed = SpoolEntry.safeParse(parse(readFileSync(file, 'utf8')));
    return parsed.success ? { entry: parsed.data, uid: stat.uid } : 'unusable';
  } finally {
    closeSync(file);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function isGone(error: unknown): boolean {
  return hasCode(error, 'ENOENT');
}
