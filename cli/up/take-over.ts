/** A part that finds its place taken: by one that a hook started, or by one whose `up` was killed and that is about to end. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Home } from '../../producers/home.ts';
import { FlipstreamError, hasCode } from '../../schemas/errors.ts';
import { askCollector } from '../doctor/collector-status.ts';

/** How long the one before may take to finish what it has begun. */
const PATIENCE_MS = 15_000;
const AGAIN_MS = 50;

export interface TakeOver {
  home: Home;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Starts a part; asks a collector that runs alone to leave, and waits for whoever has the place.
 * @throws FlipstreamError of the part; `collector_of_another_user` (usage)
 */
export async function startInPlace<T>(start: () => Promise<T>, context: TakeOver): Promise<T> {
  let asked: number | null = null;
  for (const until = performance.now() + PATIENCE_MS; ; ) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof FlipstreamError) || performance.now() > until || context.signal.aborted)
        throw error;
      if (error.code === 'collector_running') asked = await askToLeave(context, asked);
      else if (error.code !== 'oracle_running') throw error;
    }
    await pause(AGAIN_MS);
  }
}

/** @returns the process that has been asked, so that it is asked once */
async function askToLeave({ home, logger }: TakeOver, asked: number | null): Promise<number | null> {
  const pid = (await askCollector(home))?.pid ?? null;
  if (pid === null || pid === asked) return asked;
  try {
    process.kill(pid, 'SIGTERM');
  } catch (cause) {
    if (hasCode(cause, 'ESRCH')) return asked;
    const message = `A collector of another user runs for ${home.root} (process ${pid}): stop it, or run the other parts with --role.`;
    throw new FlipstreamError('collector_of_another_user', 'usage', message, cause);
  }
  logger.info({ other_pid: pid }, 'takes the place of a collector that ran alone');
  return pid;
}
