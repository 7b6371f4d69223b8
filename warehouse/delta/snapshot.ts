import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { FlipstreamError } from '../../schemas/errors.ts';
import { type ActionLine, LastCheckpoint, OUR_PROTOCOL } from './actions.ts';
import { readCheckpoint } from './checkpoint.ts';
import {
  checkpointPath,
  commitPath,
  hasVersion,
  isGap,
  lastCheckpointPath,
  logDir,
  readCommit,
} from './files.ts';
import type { Snapshot } from './version.ts';

const NOTHING: Snapshot = {
  version: -1,
  metaData: null,
  minWriterVersion: 0,
  files: new Map(),
  removed: new Map(),
  txns: new Map(),
};

/**
 * The newest version of the table in `dir`, or `version`.
 * @param from an older snapshot of the same table, to read only what came after it.
 * @throws FlipstreamError `delta_commit_damaged`, `delta_log_missing`, `delta_version_missing`, `delta_too_new`
 *   (fatal); `no_such_version` (usage)
 */
export async function readSnapshot(
  dir: string,
  { from, version }: { from?: Snapshot; version?: number } = {},
): Promise<Snapshot> {
  const usable =
    from &&
    from.version <= (version ?? from.version) &&
    !isTrimmed(dir, from.version) &&
    !isEmptied(dir, from.version);
  const start = usable ? from : await base(dir, version);
  const snapshot = advance(dir, start, version);
  if (snapshot.version === -1 && from && from.version >= 0) throw logMissing(dir);
  if (version !== undefined && snapshot.version !== version) {
    throw new FlipstreamError('no_such_version', 'usage', `${dir} has no version ${version}, or no longer`);
  }
  return snapshot;
}

/** Whether the commits that follow `version` exist no longer: a checkpoint stands for them. */
function isTrimmed(dir: string, version: number): boolean {
  return (hint(dir) ?? -1) > version && !existsSync(commitPath(dir, version + 1));
}

/** Whether `version`, which was there, is gone from a log that stands. Without its folder the disk is gone, for a while. */
function isEmptied(dir: string, version: number): boolean {
  return version >= 0 && existsSync(logDir(dir)) && !hasVersion(dir, version);
}

/** Where reading begins: the newest readable checkpoint that is not above `version`, else nothing. */
async function base(dir: string, version: number | undefined): Promise<Snapshot> {
  const hinted = version === undefined ? hint(dir) : null;
  if (hinted !== null) {
    const rows = await readCheckpoint(checkpointPath(dir, hinted));
    if (rows) return apply(NOTHING, rows, hinted);
  }
  // The hint is missing, or its checkpoint was cut short: an older one and more commits say the same.
  for (const at of checkpoints(dir)) {
    if (at > (version ?? Number.POSITIVE_INFINITY)) continue;
    const rows = await readCheckpoint(checkpointPath(dir, at));
    if (rows) return apply(NOTHING, rows, at);
  }
  return NOTHING;
}

function hint(dir: string): number | null {
  try {
    return LastCheckpoint.parse(JSON.parse(readFileSync(lastCheckpointPath(dir), 'utf8'))).version;
  } catch {
    return null;
  }
}

/** Versions of whole checkpoints, newest first. */
export function checkpoints(dir: string): number[] {
  return names(logDir(dir))
    .map((name) => /^(\d{20})\.checkpoint\.parquet$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => b - a);
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function advance(dir: string, start: Snapshot, until: number | undefined): Snapshot {
  const lines: ActionLine[] = [];
  let { version } = start;
  while (version !== until) {
    const next = readCommit(dir, version + 1);
    if (next === null) {
      if (isGap(dir, version + 1)) throw missing(dir, version + 1);
      break;
    }
    lines.push(...next);
    version++;
  }
  if (version === -1) refuseLost(dir);
  if (until === undefined && (hint(dir) ?? -1) > version && !existsSync(commitPath(dir, version + 1)))
    throw missing(dir, version + 1);
  return version === start.version ? start : apply(start, lines, version);
}

/** A table of which nothing can be read is a new one only if nothing of an old one lies there. */
function refuseLost(dir: string): void {
  const ofLog = names(logDir(dir)).some((name) => /^\d{20}\./.test(name));
  const ofTable = names(dir).some((name) => name.endsWith('.parquet'));
  // In this order: what another writer has just made has its first version by the time that it is looked for.
  if ((ofLog || ofTable) && !existsSync(commitPath(dir, 0))) throw ofLog ? missing(dir, 0) : logMissing(dir);
}

function logMissing(dir: string): FlipstreamError {
  return new FlipstreamError(
    'delta_log_missing',
    'fatal',
    `${dir} holds files of a table, and _delta_log, which says what they are, is gone or empty: restore _delta_log from a copy. Without one, move ${dir} away, and what the log still holds lands anew`,
  );
}

function missing(dir: string, version: number): FlipstreamError {
  return new FlipstreamError(
    'delta_version_missing',
    'fatal',
    `version ${version} of ${dir} is missing while later ones or checkpoints exist: restore _delta_log from a copy`,
  );
}

function apply(before: Snapshot, lines: readonly ActionLine[], version: number): Snapshot {
  const files = new Map(before.files);
  const removed = new Map(before.removed);
  const txns = new Map(before.txns);
  let { metaData, minWriterVersion } = before;
  for (const { protocol, metaData: changed, add, remove, txn } of lines) {
    if (protocol && protocol.minReaderVersion > OUR_PROTOCOL.minReaderVersion) {
      throw new FlipstreamError(
        'delta_too_new',
        'fatal',
        `version ${version} asks for Delta reader ${protocol.minReaderVersion}; this release reads ${OUR_PROTOCOL.minReaderVersion}`,
      );
    }
    if (protocol) minWriterVersion = protocol.minWriterVersion;
    if (changed) metaData = changed;
    if (txn) txns.set(txn.appId, txn.version);
    if (remove) {
      files.delete(remove.path);
      removed.set(remove.path, remove);
    }
    if (add) {
      files.set(add.path, add);
      removed.delete(add.path);
    }
  }
  return { version, metaData, minWriterVersion, files, removed, txns };
}
