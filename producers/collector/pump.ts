import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import type { Ingest } from './ingest.ts';
import type { Outbox } from './outbox.ts';
import type { Publisher } from './publish.ts';
import { createSleeper, type Sleeper } from './wait.ts';

export interface PumpDeps {
  ingest: Ingest;
  publisher: Publisher;
  outbox: Outbox;
  /** What is done when the spool has been worked in: losses, quiet sessions. */
  upkeep: () => void;
  /** Between two of them, milliseconds. */
  upkeepMs: number;
  /** Looks at the spool are at least this far apart, so that a burst of events is few looks, milliseconds. */
  restMs: number;
  /** Between two looks at the spool when nobody says that something came. */
  scanMs: number;
  /** First wait after an error; doubled up to `maxRetryMs`. */
  retryMs: number;
  maxRetryMs: number;
  warn: (message: string, fields: Record<string, unknown>) => void;
}

export interface Pump {
  /** Something came into the spool. */
  wake(): void;
  /** Commits everything captured by now. */
  ingestNow(): Promise<void>;
  /** @returns whether everything captured by now was published before the deadline */
  drained(deadlineMs: number): Promise<boolean>;
  /** What went wrong last, by stage; null once it works again. */
  readonly errors: Record<'ingest' | 'publish', string | null>;
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** Runs the two stages, each by itself, so that a log that is down does not keep events out of the chain. */
export function createPump(deps: PumpDeps): Pump {
  const { ingest, publisher, outbox, scanMs } = deps;
  const errors: Pump['errors'] = { ingest: null, publish: null };
  const sleepers = { ingest: createSleeper(), publish: createSleeper() };
  let stopping = false;
  let nextUpkeep = 0;
  let idle: (() => void)[] = [];

  async function stage(name: 'ingest' | 'publish', work: () => Promise<void>, pause: number): Promise<void> {
    let wait = deps.retryMs;
    while (!stopping) {
      try {
        await work();
        errors[name] = null;
        wait = deps.retryMs;
        await sleepers[name].sleep(pause);
      } catch (error) {
        if (error instanceof FlipstreamError && error.kind === 'fatal') throw error;
        if (errors[name] === null) deps.warn(`${name} failed; it is tried again`, { why: messageOf(error) });
        errors[name] = messageOf(error);
        // a wake does not shorten this wait, else a busy harness would make it none
        await sleepFor(sleepers[name], wait, () => stopping);
        wait = Math.min(wait * 2, deps.maxRetryMs);
      }
    }
  }

  async function ingestOnce(): Promise<void> {
    await ingest.all();
    sleepers.publish.wake();
    if (performance.now() >= nextUpkeep) {
      deps.upkeep();
      nextUpkeep = performance.now() + deps.upkeepMs;
    }
    await new Promise((resolve) => setTimeout(resolve, stopping ? 0 : deps.restMs));
  }

  async function publishAll(): Promise<void> {
    while (!stopping && (await publisher.round())) told();
    told();
  }

  function told(): void {
    const waiting = idle;
    idle = [];
    for (const done of waiting) done();
  }

  const stages = [stage('ingest', ingestOnce, scanMs), stage('publish', publishAll, scanMs)];
  const done = Promise.all(stages).then(() => undefined);
  done.catch(() => undefined);

  return {
    errors,
    done,
    wake: () => sleepers.ingest.wake(),
    async ingestNow() {
      await ingest.all();
      sleepers.publish.wake();
    },
    async drained(deadlineMs) {
      const until = performance.now() + deadlineMs;
      let mark: number | null = null;
      for (;;) {
        try {
          if (mark === null) {
            await ingest.all();
            mark = outbox.last();
          }
          if (outbox.first() > mark) return true;
        } catch {
          // the stages tell of it and try again
        }
        if (stopping || performance.now() >= until) return false;
        sleepers.publish.wake();
        const left = Math.max(1, Math.min(until - performance.now(), 50));
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, left);
          idle.push(() => {
            clearTimeout(timer);
            resolve();
          });
        });
      }
    },
    async stop() {
      stopping = true;
      for (const sleeper of Object.values(sleepers)) sleeper.wake();
      told();
      // When one has failed the other may still be at work, on a log and a database that are closed next.
      await Promise.allSettled(stages);
    },
  };
}

async function sleepFor(sleeper: Sleeper, ms: number, stopping: () => boolean): Promise<void> {
  const until = performance.now() + ms;
  while (!stopping() && performance.now() < until)
    await sleeper.sleep(Math.max(1, until - performance.now()));
}
