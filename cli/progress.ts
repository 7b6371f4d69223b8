import type { Writable } from 'node:stream';

const QUIET_MS = 2000;
const EVERY_MS = 250;

export interface Progress {
  /** What is being done now, with a count where there is one: `1,200 events`. */
  update(state: string): void;
}

/**
 * Runs work and, once it has taken two seconds, says on a terminal's stderr what it is at; a pipe sees nothing. Work that
 * never waits for anything leaves no moment to say it in: see steps.ts.
 * @param now milliseconds since any moment
 */
export async function withProgress<T>(
  stderr: Writable & { isTTY?: boolean },
  label: string,
  work: (progress: Progress) => Promise<T>,
  now: () => number = () => performance.now(),
): Promise<T> {
  if (stderr.isTTY !== true) return work({ update: () => {} });
  let state = '';
  const started = now();
  const timer = setInterval(() => {
    const elapsed = now() - started;
    if (elapsed >= QUIET_MS)
      stderr.write(`\r\u001b[2K${label} … ${Math.round(elapsed / 1000)} s${state ? `, ${state}` : ''}`);
  }, EVERY_MS);
  timer.unref();
  try {
    return await work({
      update: (next) => {
        state = next;
      },
    });
  } finally {
    clearInterval(timer);
    if (now() - started >= QUIET_MS) stderr.write('\r\u001b[2K');
  }
}
