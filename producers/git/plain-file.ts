import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** Files of a project that we read whole are small; anything larger is not what it claims to be. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The bytes of a regular file, or null when there is none or it is too large. Opened without blocking: a
 * named pipe in its place (the project may hold anything) must not hang the caller.
 */
export function readPlainFile(path: string, maxBytes = MAX_BYTES): Buffer | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    return null;
  }
  try {
    const stat = fstatSync(fd);
    return stat.isFile() && stat.size <= maxBytes ? readFileSync(fd) : null;
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}
