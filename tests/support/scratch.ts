/** Where a test run keeps its temporary files: in memory where there is room, since a third of the run was waiting for the disk. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const ROOM_BYTES = 1024 ** 3;

export function setup(): (() => void) | undefined {
  if (process.env.TMPDIR || !hasRoom()) return undefined;
  const folder = made();
  if (folder === null) return undefined;
  const remove = () => rmSync(folder, { recursive: true, force: true });
  if (runsPrograms(folder)) process.env.TMPDIR = folder;
  return remove;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false; // not Linux
  }
}

function made(): string | null {
  try {
    return mkdtempSync(join(MEMORY, 'flipstream-test-'));
  } catch {
    return null; // read-only
  }
}

/** Tests put programs there; in containers it is often mounted noexec. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  return spawnSync(program).status === 0;
}
