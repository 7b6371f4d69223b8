import { lstat, opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { FlipstreamError, hasCode, messageOf } from '../../schemas/errors.ts';

/** A file that may be imported, or files that are one. */
export interface Found {
  path: string;
  /** Whichever way leads to it. */
  real: string;
  /** The files, in order: itself, but for a folder of them. */
  parts: readonly string[];
  /** As it lies on the disk. */
  bytes: number;
  mtimeMs: number;
  /** Named by the caller, not met in a folder. */
  named: boolean;
}

export interface Walked {
  files: Found[];
  /** What could not be looked at, and why. */
  refused: { path: string; reason: string }[];
}

/**
 * The plain files under some paths, each once whatever leads to it (symlinks may go in circles), the oldest first:
 * a session comes before those that were forked from it.
 */
export async function walk(paths: readonly string[]): Promise<Walked> {
  const files = new Map<string, Found>();
  const refused: Walked['refused'] = [];
  const seen = new Set<string>();

  /** @param within the real folders on the way, which may lead through symlinks */
  async function visit(path: string, named: boolean, within: readonly string[] = []): Promise<void> {
    try {
      const real = await realpath(path);
      if (within.some((folder) => isAt(folder, real))) {
        refused.push({ path, reason: 'a symlink to a folder that it lies in' });
        return;
      }
      const known = files.get(real);
      if (known) known.named ||= named;
      if (seen.has(real)) return;
      seen.add(real);
      const info = await stat(real);
      if (info.isDirectory())
        for await (const entry of await opendir(real))
          await visit(join(path, entry.name), false, [...within, real]);
      else if (info.isFile()) {
        const { size: bytes, mtimeMs } = info;
        files.set(real, { path, real, parts: [path], bytes, mtimeMs, named });
      } else if (named) refused.push({ path, reason: 'no file and no folder' });
    } catch (error) {
      refused.push({ path, reason: reasonOf(error) });
    }
  }

  for (const path of paths) await visit(path, true);
  const sorted = joined([...files.values()]).sort(
    (a, b) => a.mtimeMs - b.mtimeMs || (a.path < b.path ? -1 : 1),
  );
  return { files: sorted, refused };
}

/** Whether a folder is the one at a path, or in it. Both as they are without symlinks. */
function isAt(folder: string, path: string): boolean {
  return folder === path || folder.startsWith(path.endsWith(sep) ? path : `${path}${sep}`);
}

/**
 * Asserts that there is something at one of the paths at least: the others are refused, one by one.
 * @throws FlipstreamError `import_nothing` (usage)
 */
export async function requireAny(paths: readonly string[]): Promise<void> {
  const missing = await Promise.all(paths.map(isMissing));
  if (missing.includes(false)) return;
  const message = `There is nothing at ${paths.join(', ')}: name files or folders that are there.`;
  throw new FlipstreamError('import_nothing', 'usage', message);
}

async function isMissing(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (error) {
    return hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR');
  }
}

/** As OpenHands' SDK names the file of each event of a conversation. */
const EVENT = /^event-\d{5,}-[\da-f-]{8,}\.json$/i;

/** Files of one event each, in the folder of their conversation, are lines of one file. */
function joined(files: readonly Found[]): Found[] {
  const folders = Map.groupBy(files, ({ path }) =>
    basename(dirname(path)) === 'events' && EVENT.test(basename(path)) ? dirname(path) : path,
  );
  return [...folders].map(([path, found]) => {
    const parts = found.map((one) => one.path).sort((a, b) => numberIn(a) - numberIn(b) || (a < b ? -1 : 1));
    return {
      ...{ path, real: found[0]?.real ?? path, parts, named: found.some(({ named }) => named) },
      bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
      mtimeMs: Math.max(...found.map(({ mtimeMs }) => mtimeMs)),
    };
  });
}

function numberIn(path: string): number {
  return Number(/\d+/.exec(basename(path))?.[0] ?? 0);
}

const REASONS: Readonly<Record<string, string>> = {
  ELOOP: 'a symlink that leads to itself',
  ENOENT: 'not there',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
};

/** What the disk says of a path, in words. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return REASONS[code] ?? messageOf(error);
}
