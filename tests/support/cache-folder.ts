import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where tests keep what they fetched, for the next run. */
export function cacheFolder(): string {
  const caches =
    process.platform === 'darwin'
      ? join(homedir(), 'Library', 'Caches')
      : process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(caches, 'flipstream-tests');
}
