import { setTimeout as wait } from 'node:timers/promises';
import type { Running } from '../log/log.ts';
import type { Clock } from '../schemas/time.ts';
import { type Compacted, compact } from '../warehouse/compact.ts';

export interface UpkeepOptions {
  warehouse: string;
  clock: Clock;
  /** Milliseconds between two rounds. */
  everyMs?: number;
  /** Told of each round that merged something. */
  merged?: (report: Compacted[]) => void;
  /** Told of a round that failed; the next one tries again. */
  warn?: (message: string, error: unknown) => void;
}

/** Compacts the warehouse now and then, beside a sink in this or another process. Its failures stop nothing else. */
export function startUpkeep({ warehouse, clock, everyMs = 300_000, merged, warn }: UpkeepOptions): Running {
  const stopping = new AbortController();
  const done = (async () => {
    while (!stopping.signal.aborted) {
      await wait(everyMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      if (stopping.signal.aborted) return;
      try {
        const { signal } = stopping;
        const report = (await compact({ warehouse, clock, signal })).filter(({ made }) => made > 0);
        if (report.length > 0) merged?.(report);
      } catch (error) {
        warn?.('compaction failed; trying again later', error);
      }
    }
  })();
  return {
    done,
    async stop() {
      stopping.abort();
      await done;
    },
  };
}
