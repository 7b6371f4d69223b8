/** The oracle's service. */
import { cpus } from 'node:os';
import pino, { type Logger } from 'pino';
import type { Log, Running } from '../log/log.ts';
import { lockHome } from './db.ts';
import { placementsOf } from './keys/ring.ts';
import { type OpenOptions, openOracle } from './oracle.ts';
import { startRetention } from './retention.ts';
import { openDesk } from './service/desk.ts';
import { type ListenOn, listen } from './service/listen.ts';
import { machineRoom } from './service/needs.ts';
import { startPublisher } from './service/publisher.ts';
import { createServer } from './service/server.ts';
import { realTimers, type Timers } from './service/timers.ts';
import { readOracleSettings } from './settings.ts';

export interface StartOptions extends Omit<OpenOptions, 'clock'>, ListenOn {
  /** Where verdicts and tasks are published; null: agent hosts fetch them. */
  log: Pick<Log, 'publish'> | null;
  timers?: Timers;
  /** Answers and verdicts leave on whole multiples of this; default 5 s. 1: at once. */
  bucketMs?: number;
  /**
   * Grades at a time; default half the processors, and never one: code that hangs would hold everyone up. Fewer where
   * the limits of their tasks' containers would take more processors or memory than there are.
   */
  concurrency?: number;
  /** Grades that may wait; default 100. */
  queueLimit?: number;
  /** Default 8 MiB. */
  maxDiffBytes?: number;
  /** Waits between the tries of a grade that the machine failed at; default 1 s and 5 s. */
  retryMs?: readonly number[];
  logger?: Logger;
}

export interface RunningOracle extends Running {
  /** `http://host:port`, `https://host:port` or `unix:/path`. */
  readonly url: string;
}

/**
 * Starts the service on its home: sweeps what a killed one left, takes up unfinished grades, publishes what waits.
 * @throws FlipstreamError `oracle_running`, `oracle_port`, `oracle_plain`, `tls_unreadable` (usage), or what
 * `openOracle` throws.
 */
export async function startOracle(options: StartOptions): Promise<RunningOracle> {
  const timers = options.timers ?? realTimers();
  const logger =
    options.logger ?? pino({ name: 'oracle', base: null }, pino.destination({ dest: 2, sync: false }));
  const { home, log, maxDiffBytes = 8 * 2 ** 20 } = options;
  const oracle = openOracle({ home, runner: options.runner, clock: timers.now });
  const closers: (() => Promise<void> | void)[] = [() => oracle.close()];
  try {
    closers.unshift(lockHome(home));
    await oracle.runner.sweep();
    closers.unshift(startRetention(oracle, timers, readOracleSettings(home).keep_days, logger));
    const publisher = log && startPublisher(oracle, log, logger);
    if (publisher) closers.unshift(() => publisher.stop());
    const desk = openDesk(oracle, {
      timers,
      logger,
      maxDiffBytes,
      bucketMs: options.bucketMs ?? 5000,
      concurrency: options.concurrency ?? Math.max(2, Math.floor(cpus().length / 2)),
      machine: machineRoom(),
      queueLimit: options.queueLimit ?? 100,
      retryMs: options.retryMs,
      onRelease: () => publisher?.kick(),
    });
    closers.unshift(() => desk.stop());
    const separate = placementsOf(home, oracle.runner.kind).includes('separate_host');
    const { url, close } = await listen(options, (tls) =>
      createServer(oracle, desk, {
        tls,
        bodyLimit: Math.ceil((maxDiffBytes * 4) / 3) + 16_384,
        placement: separate ? 'separate_host' : 'same_host',
        publishes: log !== null,
      }),
    );
    // The desk first, so that whoever waits is answered before the connections close.
    closers.splice(1, 0, close);
    logger.info({ url, key_id: oracle.key.key_id, runner: oracle.runner.kind }, 'the oracle answers');
    return running(url, closers);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

async function closeAll(closers: (() => Promise<void> | void)[]): Promise<void> {
  for (const close of closers) await close();
}

function running(url: string, closers: (() => Promise<void> | void)[]): RunningOracle {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  let stopping: Promise<void> | null = null;
  done.catch(() => {}); // whoever waits for it hears of it; nobody has to
  return {
    url,
    done,
    stop() {
      stopping ??= closeAll(closers).then(resolve, (error: unknown) => {
        reject(error);
        throw error;
      });
      return stopping;
    },
  };
}
