/** How a person, or what started us, tells a command to stop, and how one that need not clean up does. */
import { EXIT } from './exit.ts';

/** A launcher, a terminal and `timeout` tell us of one stop two or three times. */
const ONE_STOP_MS = 2000;

/** Aborted by Ctrl-C or SIGTERM; asked again after two seconds, the process ends where it is. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let since = Number.POSITIVE_INFINITY;
  const asked = () => {
    if (performance.now() - since > ONE_STOP_MS) process.exit(EXIT.interrupted);
    since = Math.min(since, performance.now());
    stop.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, asked);
  return stop.signal;
}

/** Waits for work that may be left where it is, to end with the process. @throws the signal's reason */
export async function unlessStopped<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work(), stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
