/** The live numbers of one part, for Prometheus: what it did, how far behind each group is, how long things take. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Log, LogCounters } from '../log/log.ts';
import { type Clock, isoTime } from '../schemas/time.ts';
import { openReader } from '../warehouse/query.ts';
import { UP } from './merge-figures.ts';
import type { Sink } from './sink.ts';

export interface FiguresOptions {
  /** A label of every figure: `collector`, `streams`, `sink` or `oracle`. Lag is told by streams and sink. */
  part: string;
  log: Log;
  /** The sink of this process, if it runs here. */
  sink?: Sink;
  /** Flips and dead letters are counted from the tables, so they survive restarts; none where nothing lands. */
  warehouse?: string;
  clock?: Clock;
}

export interface Figures {
  /** In Prometheus' text format, as they are now. */
  text(): Promise<string>;
}

const DELAY_BUCKETS_S = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Makes them, all at zero until they are first asked for. */
export function createFigures({ part, log, sink, warehouse, clock = Date.now }: FiguresOptions): Figures {
  const registry = new Registry();
  registry.setDefaultLabels({ part });
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `flipstream_${name}`, help, labelNames, registers });
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `flipstream_${name}`, help, labelNames, registers });

  const published = counter('published_total', 'Records published by this part', ['topic']);
  const consumed = counter('consumed_total', 'Records consumed by this part', ['topic']);
  const bytesPublished = counter('published_bytes_total', 'Bytes of the values published', ['topic']);
  const bytesConsumed = counter('consumed_bytes_total', 'Bytes of the values consumed', ['topic']);
  const fenced = counter('fenced_total', 'Transactions lost to the process that took the partition over');
  const deadLetters = counter('dead_letters_total', 'Records this part set aside');
  const failures = counter('transaction_failures_total', 'Transactions that failed and were tried again');
  const lag = gauge('lag_records', 'Records a group has not processed yet', ['group', 'topic', 'partition']);
  const rows = counter('sink_rows_total', 'Rows landed by this part', ['table']);
  const versions = gauge('sink_table_version', 'Newest Delta version of a table', ['table']);
  const conflicts = counter('sink_conflicts_total', 'Commits at which another writer was first', ['table']);
  const inTable = gauge('warehouse_rows', 'Rows in the warehouse', ['table']);
  const flips = gauge('flips', 'Flips in the warehouse', ['state']);
  const delay = new Histogram({
    name: 'flipstream_landing_delay_seconds',
    help: 'From published to visible in SQL, most recent rows',
    buckets: DELAY_BUCKETS_S,
    registers: sink ? registers : [],
  });

  const endToEnd = gauge(
    'end_to_end_delay_seconds',
    'From captured on the agent host to visible in SQL, of what landed in the last five minutes',
    ['quantile'],
  );

  const byTopic = new Map<Counter, (counted: LogCounters) => Record<string, number>>([
    [published, (counted) => counted.published],
    [consumed, (counted) => counted.consumed],
    [bytesPublished, (counted) => counted.bytesPublished],
    [bytesConsumed, (counted) => counted.bytesConsumed],
  ]);

  /** Collected when asked; the source counts by itself, so each figure is set and not added to. */
  async function collect(): Promise<void> {
    const counted = log.counters();
    for (const metric of [
      ...byTopic.keys(),
      deadLetters,
      failures,
      fenced,
      rows,
      conflicts,
      lag,
      delay,
      endToEnd,
    ])
      metric.reset();
    for (const [metric, read] of byTopic)
      for (const [topic, value] of Object.entries(read(counted))) metric.inc({ topic }, value);
    deadLetters.inc(counted.deadLetters);
    fenced.inc(counted.fenced);
    failures.inc(counted.transactionFailures);
    if (part === 'streams' || part === 'sink')
      for (const { group, topic, partition, committed, end } of await log.lag())
        lag.set({ group, topic, partition: String(partition) }, Math.max(0, end - committed));
    const landed = sink?.stats();
    for (const [table, stats] of Object.entries(landed?.tables ?? {})) {
      rows.inc({ table }, stats.rows);
      versions.set({ table }, stats.version);
      conflicts.inc({ table }, stats.conflicts);
    }
    for (const ms of landed?.delays ?? []) delay.observe(ms / 1000);
    if (warehouse !== undefined) await collectTables(warehouse);
  }

  async function collectTables(warehouse: string): Promise<void> {
    const reader = await openReader(warehouse, LIGHT);
    try {
      const { rows: counts } = await reader.query(COUNTS);
      const [events, verdicts, quarantined, dead, standing, retracted] = (counts[0] ?? []).map(Number);
      inTable.set({ table: 'events' }, events ?? 0);
      inTable.set({ table: 'verdicts' }, verdicts ?? 0);
      inTable.set({ table: 'quarantine' }, quarantined ?? 0);
      inTable.set({ table: 'deadletter' }, dead ?? 0);
      flips.set({ state: 'standing' }, standing ?? 0);
      flips.set({ state: 'retracted' }, retracted ?? 0);
      const delays = await reader.query(delaysSince(isoTime(clock() - RECENT_MS)));
      for (const [quantile, seconds] of delays.rows)
        if (typeof seconds === 'number') endToEnd.set({ quantile: String(quantile) }, seconds);
    } finally {
      reader.close();
    }
  }

  gauge(...UP).set(1);
  let last: Promise<string> = Promise.resolve('');
  return {
    // In turn: a collection sets every figure anew, and two at once would mix.
    text() {
      const next = () => collect().then(() => registry.metrics());
      last = last.then(next, next);
      return last;
    },
  };
}

const LIGHT = { memoryMiB: 128, threads: 1 };
const RECENT_MS = 300_000;

/** An imported session was recorded whenever it was: that is no delay. */
const delaysSince = (time: string) => `
  WITH recent AS (
    SELECT epoch_ms(_landed_at::TIMESTAMP) - epoch_ms(ts::TIMESTAMP) AS ms FROM events
    WHERE _landed_at >= '${time}' AND capture IS DISTINCT FROM 'imported')
  SELECT '0.5', quantile_cont(ms, 0.5) / 1000 FROM recent
  UNION ALL SELECT '0.99', quantile_cont(ms, 0.99) / 1000 FROM recent`;

const COUNTS = `
  SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM verdicts), (SELECT count(*) FROM quarantine),
    (SELECT count(*) FROM deadletter WHERE reason <> 'put_back'), (SELECT count(*) FROM flips WHERE retracted IS NULL),
    (SELECT count(*) FROM flips WHERE retracted IS NOT NULL)`;
