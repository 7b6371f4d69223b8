import { join } from 'node:path';
import { TOPICS, type TopicName } from '../schemas/topics.ts';
import { type Column, columnsOf, PROVENANCE } from './columns.ts';

export const TABLE_NAMES = [
  'events',
  'verdicts',
  'sessions',
  'flips',
  'flip_metrics',
  'tasks',
  'quarantine',
  'deadletter',
] as const;
export type TableName = (typeof TABLE_NAMES)[number];

/**
 * How records become rows. `append`: each record a row. `once`: each distinct record a row, however often
 * it was published. `upsert`: one row a key, the record with the last offset.
 */
type Mode = 'append' | 'once' | 'upsert';

interface TableSpec {
  topic: TopicName;
  mode: Mode;
  /** What tells rows apart in `once` and `upsert`. */
  key: readonly string[];
  /** Order of rows inside a compacted file: what is read together lies together, and compresses. */
  order: readonly string[];
  /** Of `upsert`, SQL: a row of which it is false takes the one before it away, and is none itself. */
  keep?: string;
  /** Fields that never reach the warehouse. */
  omit: readonly string[];
  extra: readonly Column[];
}

const plain = { key: [], omit: [], extra: [] } as const;

/**
 * A verdict's row is told apart by the key it was published under and the hash of the whole signed record: the
 * oracle's outbox publishes at least once, a baseline lies under each graded session's key, and a forgery with
 * a real verdict's id must not take its place.
 */
export const TABLES = {
  events: { ...plain, topic: 'trace.events', mode: 'append', order: ['session_id', 'chain_id', 'seq'] },
  verdicts: {
    ...plain,
    topic: 'oracle.verdicts',
    mode: 'once',
    key: ['_key', '_hash'],
    order: ['_key', 'oracle_seq'],
    extra: [
      { name: '_key', type: { kind: 'string' } },
      { name: '_hash', type: { kind: 'string' } },
    ],
  },
  sessions: { ...plain, topic: 'sessions', mode: 'upsert', key: ['session_id'], order: ['session_id'] },
  flips: {
    ...plain,
    topic: 'flips',
    mode: 'upsert',
    key: ['session_id', 'task_id'],
    order: ['session_id', 'task_id'],
  },
  flip_metrics: {
    ...plain,
    topic: 'flip.metrics',
    mode: 'upsert',
    key: ['bucket'],
    order: ['bucket'],
    // Which buckets every session has left depends on which of its states were heard of: a replay hears of others.
    keep: 'sessions <> 0',
  },
  tasks: { ...plain, topic: 'tasks', mode: 'upsert', key: ['task_id'], order: ['task_id'] },
  quarantine: {
    ...plain,
    topic: 'trace.quarantine',
    mode: 'append',
    order: ['session_id', 'ts'],
    omit: ['content'],
  },
  deadletter: {
    ...plain,
    topic: 'deadletter',
    mode: 'append',
    order: ['source_topic', 'at'],
    omit: ['content'],
  },
} as const satisfies Record<TableName, TableSpec>;

/** The table that a topic lands in. */
export type LandedTopic = (typeof TABLES)[TableName]['topic'];

/** Every column of a table: its record's fields, then its own, then where each row came from. */
export function tableColumns(table: TableName): Column[] {
  const { topic, omit, extra }: TableSpec = TABLES[table];
  const fields = columnsOf(TOPICS[topic].schema).filter(({ name }) => !omit.includes(name));
  return [...fields, ...extra, ...PROVENANCE];
}

export function specOf(table: TableName): TableSpec {
  return TABLES[table];
}

export function tableDir(warehouse: string, table: TableName): string {
  return join(warehouse, table);
}
