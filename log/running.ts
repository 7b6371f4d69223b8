import { setTimeout as sleep } from 'node:timers/promises';
import { FlipstreamError } from '../schemas/errors.ts';
import type { Running } from './log.ts';

const FIRST_RETRY_MS = 20;
const LAST_RETRY_MS = 5_000;

/** Runs `main` until it ends or is stopped. @param all everything that runs on the log, for its `close` */
export function start(all: Set<Running>, main: (stopped: AbortSignal) => Promise<void>): Running {
  const stopper = new AbortController();
  const done = main(stopper.signal).finally(() => all.delete(running));
  const running: Running = {
    done,
    async stop() {
      stopper.abort();
      await done.catch(() => undefined);
    },
  };
  all.add(running);
  return running;
}

/** Pause before the n-th retry, doubling up to five seconds. */
export function retryAfter(failures: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LAST_RETRY_MS);
}

export async function pause(ms: number, stopped: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stopped }).catch(() => undefined);
}

/** Errors that another try cannot mend end a consumer; everything else is an outage to wait out. */
export function endsIt(error: unknown): boolean {
  return error instanceof FlipstreamError && (error.kind === 'fatal' || error.kind === 'usage');
}

export function isFenced(error: unknown): boolean {
  return error instanceof FlipstreamError && error.code === 'fenced';
}

/** Cut off by a stop, or because a partition went elsewhere: no fault of anything. */
export function isStopped(error: unknown): boolean {
  return error instanceof FlipstreamError && (error.code === 'stopped' || error.code === 'feed_closed');
}
