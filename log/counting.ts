import type { LogCounters } from './log.ts';
import type { Encoded, RawRecord } from './values.ts';

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
export function countPublished(counters: LogCounters, records: readonly Encoded[]): void {
  for (const { topic, value } of records) {
    bump(counters.published, topic, 1);
    bump(counters.bytesPublished, topic, value.length);
  }
}

/** Counts records of one topic that were processed. */
export function countConsumed(counters: LogCounters, topic: string, records: readonly RawRecord[]): void {
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
