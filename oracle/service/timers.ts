import type { Clock } from '../../schemas/time.ts';

/** Clock and alarm together, so that tests can hold both. */
export interface Timers {
  now: Clock;
  /** Calls `run` once the clock has reached `when` (milliseconds since the epoch). @returns how to call it off. */
  at(when: number, run: () => void): () => void;
}

const LONGEST = 2 ** 31 - 1;

export function realTimers(): Timers {
  return {
    now: Date.now,
    at(when, run) {
      let timer: NodeJS.Timeout;
      const arm = () => {
        const wait = when - Date.now();
        // Node's timers may fire a millisecond early, and wrap beyond 24 days.
        timer = setTimeout(() => (Date.now() >= when ? run() : arm()), Math.min(Math.max(wait, 1), LONGEST));
      };
      arm();
      return () => clearTimeout(timer);
    },
  };
}

/** The first edge after `now`: everything of one bucket is let out at the same moment. */
export function nextEdge(now: number, bucketMs: number): number {
  return (Math.floor(now / bucketMs) + 1) * bucketMs;
}

/**
 * When an asker who waits until `deadline` is told PENDING: on the last edge before it. If none is left, at the
 * deadline itself, which the asker chose and so learns nothing from.
 */
export function pendingAt(now: number, deadline: number, bucketMs: number): number {
  const edge = Math.floor(deadline / bucketMs) * bucketMs;
  return edge > now ? edge : deadline;
}
