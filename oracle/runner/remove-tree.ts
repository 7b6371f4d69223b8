import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes a directory of graded code, which may have closed folders of it to its own user, as tests of permissions do.
 * @throws what the file system says.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    await open(path);
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Lets its owner into every folder. Links are not followed. */
async function open(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path)) await open(join(path, name));
}
