/** Where a test run keeps its temporary files: in memory where there is room, since a third of the run was waiting for the disk. */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const ROOM_BYTES = 1024 ** 3;

export function setup(): (() => void) | undefined {
  if (process.env.TMPDIR || !hasRoom()) return undefined;
  const folder = mkdtempSync(join(MEMORY, 'flipstream-test-'));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false; // not Linux
  }
}
