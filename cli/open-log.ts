import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type EmbeddedLog, openEmbeddedLog } from '../log/embedded/open.ts';
import type { Home } from '../producers/home.ts';
import { FlipstreamError } from '../schemas/errors.ts';

/**
 * Opens the home's log for reading and closes it when the work is done; no upkeep, no sealing.
 * @throws FlipstreamError `no_log` (usage) when nothing was ever recorded here.
 */
export async function withLog<T>(home: Home, work: (log: EmbeddedLog) => Promise<T>): Promise<T> {
  if (!hasLog(home))
    throw new FlipstreamError(
      'no_log',
      'usage',
      `There is no log in ${home.log}: run flipstream up first, or name another --home.`,
    );
  const log = await openEmbeddedLog({ dir: home.log, maintainEveryMs: null });
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

export function hasLog(home: Home): boolean {
  return existsSync(join(home.log, 'log.db'));
}
