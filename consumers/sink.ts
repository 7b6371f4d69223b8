/** Lands topics in the warehouse's Delta tables, each record exactly once. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Batch, Log, Running } from '../log/log.ts';
import { FlipstreamError } from '../schemas/errors.ts';
import { makeFolder } from '../schemas/make-folder.ts';
import type { Clock } from '../schemas/time.ts';
import { openTable, type Table } from '../warehouse/delta/table.ts';
import { type Landed, land } from '../warehouse/land.ts';
import { openParquetWriter, type ParquetWriter } from '../warehouse/parquet.ts';
import {
  type LandedTopic,
  TABLE_NAMES,
  TABLES,
  type TableName,
  tableColumns,
  tableDir,
} from '../warehouse/tables.ts';
import { appId, createHold, type Hold } from './sink/hold.ts';
import { refuseReplaced } from './sink/replaced.ts';
import { LANDED_TOPICS, tableOf } from './sink/rows.ts';
import { createSinkStats, type SinkStats, type Stats } from './sink/stats.ts';

export interface SinkOptions {
  log: Log;
  /** Directory of the tables. */
  warehouse: string;
  clock: Clock;
  /** Rows are visible at most about this long after they were read; milliseconds. */
  flushMs?: number;
  /** Rows and bytes (guessed) that wait in memory before they land; twice as much may be held at once. */
  maxRows?: number;
  maxWeight?: number;
  group?: string;
  /** Goes on where retention has deleted what never landed. */
  acceptGap?: boolean;
  /** DuckDB's part of the memory. */
  memoryMiB?: number;
  /** Told of failures that are being retried. */
  warn?: (message: string, error: unknown) => void;
}

export interface Sink extends Running {
  /** Resolves when everything taken in so far has landed. */
  flush(): Promise<void>;
  stats(): SinkStats;
}

const RETRY_MS = [100, 500, 2000, 5000];

/**
 * Starts the sink. Which offsets have landed is written in the tables themselves, in the same commit as the
 * rows: the group's committed offset runs ahead of it and is only a hint.
 * @throws FlipstreamError `log_gap`, `log_replaced`, `log_rewound`, `delta_*`, `table_schema_differs` (fatal), from `done` as well
 */
export async function startSink(options: SinkOptions): Promise<Sink> {
  makeFolder(options.warehouse, 0o777);
  const writer = await openParquetWriter({ memoryMiB: options.memoryMiB });
  try {
    const stats = createSinkStats();
    return runSink(options, writer, await openTables(options, stats), stats);
  } catch (error) {
    writer.close();
    throw error;
  }
}

type Tables = ReadonlyMap<TableName, { table: Table; hold: Hold }>;

async function openTables({ warehouse, clock, acceptGap }: SinkOptions, stats: Stats): Promise<Tables> {
  const tables = new Map<TableName, { table: Table; hold: Hold }>();
  for (const name of TABLE_NAMES) {
    const table = await openTable(tableDir(warehouse, name), tableColumns(name), clock);
    tables.set(name, { table, hold: createHold(name, TABLES[name].topic, acceptGap ?? false) });
    stats.version(name, (await table.refresh()).version);
  }
  return tables;
}

function runSink(options: SinkOptions, writer: ParquetWriter, tables: Tables, stats: Stats): Sink {
  const { log, clock, flushMs = 250, maxRows = 32_768, maxWeight = 96 * 2 ** 20, group = 'sink' } = options;
  const ids = new Map<string, string>();
  const stopping = new AbortController();
  let landing: Promise<void> = Promise.resolve();
  /** Aborted by a failure that will not pass, with it as the reason. */
  const failed = new AbortController();
  let timer: NodeJS.Timeout | null = null;
  let soon = false;
  let lastFlush = Number.NEGATIVE_INFINITY;

  const of = (name: TableName) => {
    const found = tables.get(name);
    if (!found) throw new TypeError(`no table ${name}`);
    return found;
  };

  async function idOf(topic: LandedTopic): Promise<string> {
    const id = ids.get(topic) ?? (await log.idOf(topic));
    ids.set(topic, id);
    return id;
  }

  /** Lands what is held, after what is landing already. Never rejects: a failure that will not pass ends the sink. */
  function flush(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    lastFlush = performance.now();
    const cargos = [...tables].map(([name, { table, hold }]) => ({
      name,
      table,
      hold,
      cargo: hold.unload(),
    }));
    landing = landing.then(async () => {
      for (const { name, table, hold, cargo } of cargos) {
        if (cargo === null || failed.signal.aborted) continue;
        try {
          const landed = await persist(() => land({ table, name, writer, clock }, cargo));
          hold.reuse(cargo.sheet);
          const now = clock();
          stats.landed(
            name,
            landed,
            cargo.delays.map((at) => now - at),
          );
        } catch (error) {
          failed.abort(error);
          void running.stop();
        }
      }
    });
    return landing;
  }

  /** Flushes once what is landing has landed: while that fails, what is held must not pile up behind it. */
  function flushSoon(): void {
    if (soon) return;
    soon = true;
    void landing.then(() => {
      soon = false;
      return flush();
    });
  }

  async function persist(job: () => Promise<Landed>): Promise<Landed> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await job();
      } catch (error) {
        if (stopping.signal.aborted && attempt > 0) throw error;
        if (error instanceof FlipstreamError && error.kind !== 'retryable') throw error;
        options.warn?.('landing failed; trying again', error);
        await wait(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)], undefined, {
          signal: stopping.signal,
        }).catch(() => {});
      }
    }
  }

  const check = () => failed.signal.throwIfAborted();

  async function onBatch(batch: Batch<LandedTopic, Buffer>): Promise<void> {
    check();
    await writer.handedOver();
    const { hold } = of(tableOf(batch.topic));
    hold.take(batch, await idOf(batch.topic), clock());
    if (hold.rows >= maxRows || hold.weight >= maxWeight) {
      // One load lands while the next is taken in; no more than that is ever held.
      await landing;
      check();
      void flush();
    } else timer ??= setTimeout(flushSoon, flushMs).unref();
  }

  const running = log.consumeAvro<LandedTopic>({
    group,
    topics: LANDED_TOPICS,
    maxBatch: 4000,
    startAt: async (topic, partition) => {
      // Asked at the start, after a failure, and when a partition comes from another sink.
      await flush();
      check();
      const { table, hold } = of(tableOf(topic));
      const { txns } = await table.refresh();
      const logId = await idOf(topic);
      if (!options.acceptGap) refuseReplaced(txns, logId, topic, partition);
      const next = txns.get(appId(logId, topic, partition)) ?? 0;
      const { end } = await log.read(topic, partition, next, 1);
      if (next > end) throw rewound(topic, partition, next, end);
      hold.expect(partition, next);
      return next;
    },
    onBatch,
    onIdle: async () => {
      // Nothing more to wait for, so the first row after a pause is visible at once.
      if (timer && performance.now() - lastFlush >= flushMs) flushSoon();
    },
  });

  async function stop(): Promise<void> {
    stopping.abort();
    await running.stop();
    await flush();
  }

  const done = running.done
    .finally(async () => {
      // Nobody waits any longer for a landing that fails for a while: what ended the sink comes first.
      stopping.abort();
      await flush();
      writer.close();
    })
    .then(check);
  done.catch(() => {});
  return {
    done,
    stop: async () => {
      await stop();
      await done.catch(() => {});
    },
    flush: async () => {
      await flush();
      check();
    },
    stats: stats.read,
  };
}

/** What the log gives out next would count as landed already, and be passed over without a word. */
function rewound(topic: string, partition: number, next: number, end: number): FlipstreamError {
  return new FlipstreamError(
    'log_rewound',
    'fatal',
    `${topic}/${partition}: the warehouse holds the offsets up to ${next - 1}, and the log ends at ${end}: an older copy of the log was put back. Fill a new home from the warehouse with flipstream replay`,
  );
}
