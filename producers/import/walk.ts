import { opendir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../schemas/errors.ts';

/** A file that may be imported. */
export interface Found {
  path: string;
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

  async function visit(path: string, named: boolean): Promise<void> {
    try {
      const real = await realpath(path);
      const known = files.get(real);
      if (known) known.named ||= named;
      if (seen.has(real)) return;
      seen.add(real);
      const info = await stat(real);
      if (info.isDirectory())
        for await (const entry of await opendir(real)) await visit(join(path, entry.name), false);
      else if (info.isFile()) files.set(real, { path, bytes: info.size, mtimeMs: info.mtimeMs, named });
      else if (named) refused.push({ path, reason: 'no file and no folder' });
    } catch (error) {
      refused.push({ path, reason: reasonOf(error) });
    }
  }

  for (const path of paths) await visit(path, true);
  const sorted = [...files.values()].sort((a, b) => a.mtimeMs - b.mtimeMs || (a.path < b.path ? -1 : 1));
  return { files: sorted, refused };
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
