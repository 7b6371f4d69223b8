import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import { readPlainFile } from '../git/plain-file.ts';
import { jsonObject } from '../json-object.ts';

/** Small JSON files under FLIPSTREAM_HOME that hook and gate keep without a collector. Mode 600, whole or absent. */
export function readState(path: string): Record<string, unknown> | null {
  const bytes = readPlainFile(path, 64 * 1024);
  return bytes && jsonObject(bytes.toString('utf8'));
}

/** Writes a state file. @param how `once` leaves one that exists as it is. @throws when the disk refuses */
export function writeState(path: string, value: object, how: 'once' | 'replace', mode = 0o600): void {
  makeFolder(dirname(path));
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 });
  if (mode !== 0o600) chmodSync(temporary, mode); // whatever the umask is
  if (how === 'replace') {
    renameSync(temporary, path);
    return;
  }
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}
