import { FlipstreamError } from '../schemas/errors.ts';
import type { Running } from './log.ts';

/** A log from its opening to its end. */
export interface Lifetime {
  /** Does it, and has the end wait for it. @throws FlipstreamError `log_closed` (usage) once the end has begun */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** @throws as `during` */
  check(): void;
  /** Stops what runs, waits for what is under way, then frees what both needed; once, however often it is called. */
  end(): Promise<void>;
}

/** @param which log, for the error */
export function createLifetime(
  which: string,
  running: ReadonlySet<Running>,
  free: () => Promise<void> | void,
): Lifetime {
  const pending = new Set<Promise<unknown>>();
  let ending: Promise<void> | null = null;

  function check(): void {
    if (ending) throw new FlipstreamError('log_closed', 'usage', `the log ${which} is closed`);
  }

  async function end(): Promise<void> {
    await Promise.all([...running].map((one) => one.stop()));
    await Promise.allSettled(pending);
    await free();
  }

  return {
    async during(work) {
      check();
      const promise = work();
      pending.add(promise);
      try {
        return await promise;
      } finally {
        pending.delete(promise);
      }
    },
    check,
    end: () => {
      ending ??= end();
      return ending;
    },
  };
}
