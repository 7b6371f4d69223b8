import { setImmediate as turn } from 'node:timers/promises';

const MOST_MS = 50;

/**
 * For long work on one thread: what it gives is to be awaited, if anything, before each next piece. Then timers and
 * connections have their turn, above all the signs of life, without which a group goes on without a slow member.
 */
export function breathing(): () => Promise<void> | null {
  let since = performance.now();
  return () => {
    if (performance.now() - since < MOST_MS) return null;
    return turn().then(() => {
      since = performance.now();
    });
  };
}
