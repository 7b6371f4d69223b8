import { join } from 'node:path';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/time.ts';
import { noCounts } from '../counting.ts';
import { createLifetime } from '../lifetime.ts';
import type { Log } from '../log.ts';
import { decodeBatch, readable, type Seal, valueDecoder, valueReader } from '../values.ts';
import { stderrWarner, type Warn } from '../warn.ts';
import { createAppend } from './append.ts';
import { openCatalog } from './catalog.ts';
import { consume } from './consume.ts';
import type { Core } from './core.ts';
import { openFile } from './file.ts';
import { claimMaintenance, type Maintained, maintain } from './maintain.ts';
import { lagOf } from './offsets.ts';
import { createPublish } from './publish.ts';
import { bytesAt, putBack } from './put-back.ts';
import { createRead } from './read.ts';
import { run } from './run.ts';
import { named } from './sqlite-errors.ts';
import { createTransact } from './transact.ts';
import { createWake } from './wake.ts';

export interface EmbeddedOptions {
  /** Directory of the log; made if missing. */
  dir: string;
  /** Partitions of every topic. Fixed when the file is made; later values are ignored. Default 4. */
  partitions?: number;
  seal?: Seal;
  clock?: Clock;
  /** After this long without a sign of life another process takes a member's partitions. Default 10 s. */
  leaseMs?: number;
  /** The file grows no larger; then publishing fails with `log_full`. */
  maxBytes?: number;
  /** How often one of the processes runs maintenance; null never. Default ten minutes. */
  maintainEveryMs?: number | null;
  warn?: Warn;
}

export interface EmbeddedLog extends Log {
  readonly engine: 'embedded';
  /** Retention, compaction, merging of small blocks, now. */
  maintain(): Promise<Maintained>;
}

const MOST_PARTITIONS = 256;

/**
 * Opens the log of one machine: one SQLite file that any number of processes use at once.
 * @throws FlipstreamError `log_not_ours`, `log_newer`, `log_damaged`, `log_unopenable` (fatal), `log_busy`, `log_full` (retryable)
 */
export async function openEmbeddedLog(options: EmbeddedOptions): Promise<EmbeddedLog> {
  const { dir, partitions = 4, clock = Date.now, leaseMs = 10_000, maintainEveryMs = 600_000 } = options;
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > MOST_PARTITIONS) {
    throw new FlipstreamError(
      'bad_partitions',
      'usage',
      `partitions must be 1 to ${MOST_PARTITIONS}, not ${partitions}`,
    );
  }
  const path = join(dir, 'log.db');
  const db = openFile(path, { partitions, maxBytes: options.maxBytes });
  try {
    const transact = createTransact(db, path);
    const catalog = await openCatalog(db, transact);
    const core: Core = {
      db,
      path,
      clock,
      seal: options.seal,
      catalog,
      transact,
      wake: createWake(db),
      append: createAppend(db, catalog, clock),
      read: createRead(db, catalog),
      counters: noCounts(),
      leaseMs,
      warn: options.warn ?? stderrWarner(),
      running: new Set(),
    };
    return logOver(core, maintainEveryMs);
  } catch (error) {
    db.close();
    throw error;
  }
}

function logOver(core: Core, maintainEveryMs: number | null): EmbeddedLog {
  const append = createPublish(core);
  const lifetime = createLifetime(core.path, core.running, () => {
    core.wake.close();
    core.db.close();
  });

  /** Whatever SQLite says is told as what can be done about it. */
  async function during<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await lifetime.during(work);
    } catch (error) {
      throw named(error, core.path);
    }
  }

  const upkeep =
    maintainEveryMs === null
      ? null
      : setInterval(() => {
          during(async () => {
            if (await claimMaintenance(core, maintainEveryMs)) await maintain(core);
          }).catch((error: unknown) => core.warn('maintenance of the log failed; trying again later', error));
        }, maintainEveryMs).unref();

  function open(): Core {
    lifetime.check();
    return core;
  }

  return {
    engine: 'embedded',
    idOf: async (topic) => core.catalog.uid(topic),
    partitions: async () => core.catalog.partitions,
    publish: (records) => during(() => append(records)),
    consume: (options) => consume(open(), options, valueDecoder),
    consumeAvro: (options) => consume(open(), options, valueReader),
    run: (reducer) => run(open(), reducer),
    read: (topic, partition, from, max) =>
      during(async () => {
        const raw = core.read(topic, partition, from, { records: max, bytes: 16 * 2 ** 20 });
        return readable(decodeBatch(topic, raw, valueDecoder(topic, core.catalog.schemas)));
      }),
    bytesAt: (topic, partition, offset) => during(async () => bytesAt(core, topic, partition, offset)),
    putBack: (stored, along, unmoved) => during(() => putBack(core, stored, along, unmoved)),
    lag: () => during(async () => lagOf(core)),
    counters: () => structuredClone(core.counters),
    maintain: () => during(() => maintain(core)),
    close: () => {
      if (upkeep) clearInterval(upkeep);
      return lifetime.end();
    },
  };
}
