import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FlipstreamError, hasCode } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import { syncFile } from '../sync.ts';
import { ActionLine } from './actions.ts';

export function logDir(dir: string): string {
  return join(dir, '_delta_log');
}

export function commitPath(dir: string, version: number): string {
  return join(logDir(dir), `${String(version).padStart(20, '0')}.json`);
}

export function checkpointPath(dir: string, version: number): string {
  return join(logDir(dir), `${String(version).padStart(20, '0')}.checkpoint.parquet`);
}

export function lastCheckpointPath(dir: string): string {
  return join(logDir(dir), '_last_checkpoint');
}

/**
 * Makes version `version`, if nobody has: the whole text lies on the disk before its name appears, so nobody
 * ever reads half a commit. link(2) fails where the name exists; rename would overwrite it.
 * @returns false when another writer was first, or the version before it is no longer there.
 */
export function tryCommit(dir: string, version: number, text: string): boolean {
  // A table whose folder has vanished (a disk not mounted) must not begin anew in the middle.
  if (version === 0) makeFolder(logDir(dir), 0o777);
  // Nor may one whose log was emptied, or trimmed while this writer slept, go on where nobody would read it.
  else if (existsSync(logDir(dir)) && !hasVersion(dir, version - 1)) return false;
  // Delta readers pass over names that begin with a dot or an underscore.
  const whole = join(logDir(dir), `.${randomUUID()}.tmp`);
  try {
    writeFileSync(whole, text, { flag: 'wx' });
    syncFile(whole);
    linkSync(whole, commitPath(dir, version));
    syncFile(logDir(dir));
    return true;
  } catch (cause) {
    if (hasCode(cause, 'EEXIST')) return false;
    throw new FlipstreamError(
      'delta_commit_failed',
      'retryable',
      `version ${version} of ${dir} could not be committed: check the disk and who owns the folder`,
      cause,
    );
  } finally {
    rmSync(whole, { force: true });
  }
}

/**
 * The actions of one version, or null when it does not exist yet.
 * @throws FlipstreamError `delta_commit_damaged` (fatal) for a file cut short or altered.
 */
export function readCommit(dir: string, version: number): ActionLine[] | null {
  const path = commitPath(dir, version);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
  try {
    if (!text.endsWith('\n')) JSON.parse(text.slice(text.lastIndexOf('\n') + 1));
    const lines = text.split('\n').filter((line) => line !== '');
    if (lines.length === 0) throw new SyntaxError('the file is empty');
    return lines.map((line) => ActionLine.parse(JSON.parse(line)));
  } catch (cause) {
    throw new FlipstreamError(
      'delta_commit_damaged',
      'fatal',
      `${path} was cut short or altered. If it is the newest version, move it away: what it held lands again from the log`,
      cause,
    );
  }
}

/** Whether a version can be read where it stands: from its commit, or from a checkpoint. */
export function hasVersion(dir: string, version: number): boolean {
  return existsSync(commitPath(dir, version)) || existsSync(checkpointPath(dir, version));
}

/** How far ahead a later version is looked for: a checkpoint tells of those that lie farther. */
const LOOK_AHEAD = 20;

/** Whether version `version` is missing although a later one exists. */
export function isGap(dir: string, version: number): boolean {
  const later = Array.from({ length: LOOK_AHEAD }, (_, at) => commitPath(dir, version + 1 + at));
  // In this order: what another writer has just made is there by the time that it is looked for.
  return later.some((path) => existsSync(path)) && !existsSync(commitPath(dir, version));
}
