import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readCheckpoint } from './checkpoint.ts';
import { checkpointPath, logDir } from './files.ts';
import { checkpoints, readSnapshot } from './snapshot.ts';

/** How long a removed file, and a version nobody needs to build the newest, stay: a query may still read them. */
export const KEEP_MS = 24 * 60 * 60 * 1000;

export interface Vacuumed {
  files: number;
  versions: number;
}

/**
 * Deletes what no version younger than a day needs: files removed longer ago, files that a writer left behind
 * uncommitted, and commits below the checkpoint that the oldest kept version is read from.
 * @param now milliseconds since the epoch.
 */
export async function vacuum(dir: string, now: number): Promise<Vacuumed> {
  const { files, removed } = await readSnapshot(dir);
  let deleted = 0;
  for (const name of list(dir)) {
    if (!name.endsWith('.parquet') || files.has(name)) continue;
    const path = join(dir, name);
    const since = removed.get(name)?.deletionTimestamp ?? ageOf(path);
    if (since === null || now - since <= KEEP_MS) continue;
    rmSync(path, { force: true });
    deleted++;
  }
  return { files: deleted, versions: await trim(dir, now) };
}

async function trim(dir: string, now: number): Promise<number> {
  const floor = await floorOf(dir, now);
  let trimmed = 0;
  for (const name of list(logDir(dir))) {
    const path = join(logDir(dir), name);
    const version = versionOf(name);
    const old = version !== undefined && floor !== undefined && version < floor;
    // What a killed writer was about to commit.
    const left = name.startsWith('.') && now - (ageOf(path) ?? now) > KEEP_MS;
    if (!old && !left) continue;
    rmSync(path, { force: true });
    if (old) trimmed++;
  }
  return trimmed;
}

/** The newest checkpoint older than a day that can be read: of one that cannot, the commits below say what it held. */
async function floorOf(dir: string, now: number): Promise<number | undefined> {
  for (const version of checkpoints(dir)) {
    const path = checkpointPath(dir, version);
    const written = ageOf(path);
    if (written === null || now - written <= KEEP_MS) continue;
    // Nothing below it, nothing to trim: then it need not be opened.
    if (!list(logDir(dir)).some((name) => (versionOf(name) ?? version) < version)) return undefined;
    if (await readCheckpoint(path)) return version;
  }
  return undefined;
}

function versionOf(name: string): number | undefined {
  const digits = /^(\d{20})\.(json|checkpoint\.parquet)$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function list(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

/** When a file was last written, or null when it is gone. */
function ageOf(path: string): number | null {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return null;
  }
}
