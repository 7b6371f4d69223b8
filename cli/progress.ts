import type { Writable } from 'node:stream';

const QUIET_MS = 2000;
const EVERY_MS = 250;

export interface Progress {
  /** What is being done now, with a count where there is one: `1,200 events`. */
  update(state: string): void;
}

/**
 * Runs work and, once it has taken two seconds, says on a terminal's stderr what it is at; a pipe sees nothing.
 */
export async function withProgress<T>(
  stderr: Writable & { isTTY?: boolean },
  label: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  if (stderr.isTTY !== true) return work({ update: () => {} });
  let state = '';
  const started = performance.now();
  const timer = setInterval(() => {
    const elapsed = performance.now() - started;
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
    if (performance.now() - started >= QUIET_MS) stderr.write('\r\u001b[2K');
  }
}
