import type { DatabaseSync } from 'node:sqlite';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/time.ts';
import type { LogCounters, Running } from '../log.ts';
import type { Encoded, RawRecord, Seal } from '../values.ts';
import type { Append } from './append.ts';
import type { Catalog } from './catalog.ts';
import type { Read } from './read.ts';
import type { Transact } from './transact.ts';
import type { Wake } from './wake.ts';

/** What the parts of one open embedded log share. */
export interface Core {
  db: DatabaseSync;
  path: string;
  clock: Clock;
  seal: Seal | undefined;
  catalog: Catalog;
  transact: Transact;
  wake: Wake;
  append: Append;
  read: Read;
  counters: LogCounters;
  leaseMs: number;
  /** Trouble that is retried. Never content. */
  warn: (message: string, error: unknown) => void;
  /** Everything that runs on this log, for `close`. */
  running: Set<Running>;
}

export function noCounts(): LogCounters {
  return {
    published: {},
    consumed: {},
    bytesPublished: {},
    bytesConsumed: {},
    deadLetters: 0,
    transactionFailures: 0,
    fenced: 0,
  };
}

/** Counts records that went into the log. */
export function countPublished({ counters }: Core, records: readonly Encoded[]): void {
  for (const { topic, value } of records) {
    bump(counters.published, topic, 1);
    bump(counters.bytesPublished, topic, value.length);
  }
}

/** Counts records of one topic that were processed. */
export function countConsumed({ counters }: Core, topic: string, records: readonly RawRecord[]): void {
  bump(counters.consumed, topic, records.length);
  bump(
    counters.bytesConsumed,
    topic,
    records.reduce((sum, { value }) => sum + value.length, 0),
  );
}

function bump(counts: Record<string, number>, name: string, by: number): void {
  counts[name] = (counts[name] ?? 0) + by;
}

export function closedError(path: string): FlipstreamError {
  return new FlipstreamError('log_closed', 'usage', `the log ${path} is closed`);
}
