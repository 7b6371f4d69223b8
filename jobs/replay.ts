/** Plays what was recorded into a new log, where the same streams and sink make the same warehouse of it. */
import type { Log, Outgoing } from '../log/log.ts';
import { FlipstreamError } from '../schemas/errors.ts';
import { jsonReader } from '../schemas/from-json.ts';
import { TOPICS } from '../schemas/topics.ts';
import { openReader } from '../warehouse/query.ts';
import { refuseNewerTables } from '../warehouse/snapshots.ts';
import { type LandedTopic, specOf, TABLE_NAMES, tableColumns } from '../warehouse/tables.ts';
import type { Value } from '../warehouse/values.ts';

/**
 * What is replayed: the records that nothing else is made from. `sessions`, `flips` and `flip_metrics` come out
 * of the streams again; what was scanned once is not scanned again, so `trace.events` is written as it is.
 */
const REPLAYED = ['tasks', 'verdicts', 'events', 'quarantine', 'deadletter'] as const;
type Replayed = (typeof REPLAYED)[number];

export interface ReplayOptions {
  /** The log of another home, or the archive in a warehouse, which outlives every log. */
  from: { log: Log } | { warehouse: string };
  /** A log that nothing was published to yet. */
  into: Log;
  /** Only what happened up to then, by the records' own times: ISO 8601 as `ts`. */
  until?: string | undefined;
  /** Stops between two batches. */
  signal?: AbortSignal;
  /** Told after each batch: for a progress line. */
  progress?: (table: Replayed, records: number) => void;
}

const BATCH = 1000;

/**
 * Publishes the recorded records to `into`. Content of quarantine and dead letters stays where it is sealed;
 * only their metadata goes along.
 * @returns how many records of each table were published.
 * @throws FlipstreamError `replay_not_fresh` (usage), `replay_short` (fatal), the signal's reason, and what the log and the warehouse throw
 */
export async function replay({
  from,
  into,
  until,
  signal,
  progress,
}: ReplayOptions): Promise<Record<Replayed, number>> {
  const counts: Record<Replayed, number> = { tasks: 0, verdicts: 0, events: 0, quarantine: 0, deadletter: 0 };
  await refuseUsed(into);
  if ('warehouse' in from) await refuseNewerTables(from.warehouse);
  for (const table of REPLAYED) {
    const batches = 'log' in from ? fromLog(from.log, table) : fromArchive(from.warehouse, table);
    for await (const all of batches) {
      signal?.throwIfAborted();
      const batch = until === undefined ? all : all.filter(({ value }) => timeOf(table, value) <= until);
      if (batch.length === 0) continue;
      await into.publish(batch);
      counts[table] += batch.length;
      progress?.(table, counts[table]);
    }
  }
  return counts;
}

const TIME_OF = {
  tasks: 'checked_at',
  verdicts: 'released_at',
  events: 'ts',
  quarantine: 'ts',
  deadletter: 'at',
} as const satisfies Record<Replayed, string>;

/** When the record says that it happened; one that does not say was always so. */
function timeOf(table: Replayed, value: Outgoing['value']): string {
  const time = Object.entries(value).find(([name]) => name === TIME_OF[table])?.[1];
  return typeof time === 'string' ? time : '';
}

async function refuseUsed(into: Log): Promise<void> {
  for (const table of TABLE_NAMES) {
    const { topic } = specOf(table);
    for (let partition = 0; partition < (await into.partitions(topic)); partition++) {
      const { end } = await into.read(topic, partition, 0, 1);
      if (end === 0) continue;
      throw new FlipstreamError(
        'replay_not_fresh',
        'usage',
        `the log to replay into holds records of ${topic} already: replay into a new home`,
      );
    }
  }
}

async function* fromLog(log: Log, table: Replayed): AsyncGenerator<Outgoing[]> {
  const topic: LandedTopic = LANDED[table];
  for (let partition = 0; partition < (await log.partitions(topic)); partition++) {
    for (let at = 0; ; ) {
      const batch = await log.read(topic, partition, at, BATCH);
      if (batch.earliest > at && TOPICS[topic].cleanup === 'delete')
        throw lost(topic, partition, at, batch.earliest);
      if (batch.records.length > 0) {
        yield batch.records.map(({ key, value }) => ({ topic, key, value: withoutSealed(value) }));
      }
      if (batch.nextOffset <= at || batch.nextOffset >= batch.end) break;
      at = batch.nextOffset;
    }
  }
}

const LANDED = {
  tasks: 'tasks',
  verdicts: 'oracle.verdicts',
  events: 'trace.events',
  quarantine: 'trace.quarantine',
  deadletter: 'deadletter',
} as const satisfies Record<Replayed, LandedTopic>;

/** Sealed once is enough: what lies sealed in the source stays there. */
function withoutSealed(value: Outgoing['value']): Outgoing['value'] {
  return 'content' in value ? { ...value, content: null } : value;
}

function lost(topic: string, partition: number, from: number, earliest: number): FlipstreamError {
  return new FlipstreamError(
    'replay_short',
    'fatal',
    `${topic}/${partition}: offsets ${from} to ${earliest - 1} are no longer in the log. Replay from the archive (the warehouse), which keeps everything`,
  );
}

async function* fromArchive(warehouse: string, table: Replayed): AsyncGenerator<Outgoing[]> {
  const topic = LANDED[table];
  const read = recordReader(table);
  const reader = await openReader(warehouse);
  try {
    const names = tableColumns(table).map(({ name }) => name);
    const { rows, total } = await reader.stream(
      // As it lies there, which is nearly as it came: sorting whole rows takes more memory than there is, and the
      // streams make the same of any order.
      `SELECT ${names.map((name) => `"${name}"`).join(', ')} FROM ${table}`,
    );
    let seen = 0;
    for await (const chunk of rows) {
      yield chunk.map((row) => {
        const fields: Record<string, Value> = Object.fromEntries(
          names.map((name, at) => [name, row[at] ?? null]),
        );
        return { topic, key: keyOf(table, fields), value: read(fields) };
      });
      seen += chunk.length;
    }
    if (seen !== total) {
      throw new FlipstreamError(
        'replay_short',
        'fatal',
        `${table}: ${total} rows in the archive, ${seen} were read`,
      );
    }
  } finally {
    reader.close();
  }
}

function recordReader(table: Replayed): (fields: Record<string, Value>) => Outgoing['value'] {
  return jsonReader(TOPICS[LANDED[table]].schema);
}

/** The key a record was published under, which decides its partition and what it is joined with. */
function keyOf(table: Replayed, fields: Record<string, Value>): string {
  const field = {
    tasks: 'task_id',
    verdicts: '_key',
    events: 'session_id',
    quarantine: 'session_id',
    deadletter: 'source_topic',
  };
  const key = fields[field[table]];
  if (typeof key === 'string') return key;
  throw new FlipstreamError('replay_short', 'fatal', `a row of ${table} has no ${field[table]}`);
}
