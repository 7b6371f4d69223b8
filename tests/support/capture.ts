/** A collector before a pipeline of this process, on a log that can be away or full. */

import type { Log } from '../../log/log.ts';
import {
  type Collector,
  type CollectorOptions,
  startCollector,
} from '../../producers/collector/collector.ts';
import { ask } from '../../producers/collector/testing.ts';
import { prepareSpool } from '../../producers/spool/prepare.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { Pipeline } from './pipeline.ts';

/** A log of which the way to it can be cut. */
export interface Switched extends Pick<Log, 'publish'> {
  down: boolean;
  /** Records arrive, and the answer that they have is lost. */
  mute: boolean;
}

export function switched(log: Pick<Log, 'publish'>): Switched {
  const way: Switched = {
    down: false,
    mute: false,
    async publish(records) {
      if (way.down) throw new FlipstreamError('log_io', 'retryable', 'the log cannot be reached');
      await log.publish(records);
      if (way.mute) throw new FlipstreamError('log_io', 'retryable', 'the log did not answer');
    },
  };
  return way;
}

export interface Capture {
  /** Between the collector and the log. */
  way: Switched;
  start(change?: Partial<CollectorOptions>): Promise<Collector>;
  stop(): Promise<void>;
  /** Whether the collector has published everything captured by now. */
  drained(deadlineMs?: number): Promise<boolean>;
}

/** @param before what comes after it: the clock goes by `time.now` */
export function createCapture(
  before: Pick<Pipeline, 'home' | 'time'> & { log: Pick<Log, 'publish'> },
): Capture {
  const { home, log, time } = before;
  const way = switched(log);
  let collector: Collector | null = null;
  prepareSpool(home);
  return {
    way,
    async start(change = {}) {
      collector = await startCollector({
        ...{ home, log: way, clock: () => time.now, settings: { v: 1 }, warn: () => {} },
        tune: { scanMs: 20, upkeepMs: 20, restMs: 1, retryMs: 5, maxRetryMs: 20 },
        ...change,
      });
      return collector;
    },
    async stop() {
      await collector?.stop();
      collector = null;
    },
    async drained(deadlineMs = 20_000) {
      return (await ask(home, '/drain', { deadline_ms: deadlineMs })).drained === true;
    },
  };
}
