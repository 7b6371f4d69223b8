import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { FlipstreamError, hasCode, messageOf } from './errors.ts';

/** Answers of a file system in which no folder will ever be made at this path, whoever waits. */
const NEVER = ['ENOENT', 'ENOTDIR', 'EEXIST', 'EACCES', 'EPERM', 'EROFS', 'ELOOP', 'ENAMETOOLONG'];

/**
 * Makes a folder and those above it. Not with `recursive`: where a file system answers that an existing folder is
 * not there (/proc, a mount that is gone), Node's own loop never ends, and no alarm ends it.
 * @param mode of the folders that are made, less the umask; by default they are closed to other users
 * @returns whether it was made now
 * @throws FlipstreamError `folder_impossible` (usage); what passes, as a full disk, as the system says it
 */
export function makeFolder(path: string, mode = 0o700): boolean {
  if (isFolder(path)) return false;
  const above = dirname(path);
  if (above !== path) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    if (isFolder(path)) return false;
    if (!NEVER.some((code) => hasCode(error, code))) throw error;
    const message = `${path}: no folder can be made there (${messageOf(error)}); name another, or mend what is in its way.`;
    throw new FlipstreamError('folder_impossible', 'usage', message, error);
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // what is wrong there is told by whoever makes one
  }
}
