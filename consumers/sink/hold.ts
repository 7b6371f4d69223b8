import type { Batch, Incoming } from '../../log/log.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { isoTime } from '../../schemas/time.ts';
import { TOPICS } from '../../schemas/topics.ts';
import type { Cargo } from '../../warehouse/land.ts';
import type { LandedTopic, TableName } from '../../warehouse/tables.ts';
import { createRowMaker, type Row, weightOf } from './rows.ts';

/** What waits in memory to land in one table. */
export interface Hold {
  /** Takes a batch in; what was taken before is passed over. @throws FlipstreamError `log_gap` (fatal) */
  take(batch: Batch<LandedTopic>, logId: string, now: number): void;
  /** Where a partition goes on, once the table has been asked. */
  expect(partition: number, next: number): void;
  /** Everything held, which is held no longer; null when there is nothing. */
  unload(): (Cargo & { delays: readonly number[] }) | null;
  readonly rows: number;
  readonly weight: number;
}

export function createHold(table: TableName, topic: LandedTopic, acceptGap: boolean): Hold {
  const maker = createRowMaker(table);
  const expected = new Map<number, number>();
  let rows: Row[] = [];
  let published: number[] = [];
  let weight = 0;
  let logIdHeld = '';
  const next = new Map<number, number>();

  return {
    take(batch, logId, now) {
      const { partition } = batch;
      const from = expected.get(partition) ?? 0;
      // A compacted topic loses what later records replaced; any other has lost what we never saw.
      if (TOPICS[topic].cleanup === 'delete' && batch.earliest > from && !acceptGap) throw gap(batch, from);
      logIdHeld = logId;
      const landedAt = isoTime(now);
      for (const record of batch.records) {
        if (record.offset < from) continue;
        const incoming: Incoming = record;
        rows.push(maker.row(incoming, logId, landedAt));
        published.push(record.timestamp);
        weight += weightOf(incoming);
      }
      const to = Math.max(from, batch.nextOffset);
      expected.set(partition, to);
      next.set(partition, to);
    },
    expect(partition, from) {
      expected.set(partition, from);
    },
    unload() {
      if (rows.length === 0) return null;
      const logId = logIdHeld;
      const cargo = {
        rows,
        delays: published,
        next: new Map(next),
        appId: (partition: number) => appId(logId, topic, partition),
      };
      rows = [];
      published = [];
      weight = 0;
      next.clear();
      return cargo;
    },
    get rows() {
      return rows.length;
    },
    get weight() {
      return weight;
    },
  };
}

/** Under this name a table keeps how far a partition has landed. */
export function appId(logId: string, topic: string, partition: number): string {
  return `${logId}/${topic}/${partition}`;
}

function gap({ topic, partition, earliest }: Batch, from: number): FlipstreamError {
  return new FlipstreamError(
    'log_gap',
    'fatal',
    `${topic}/${partition}: offsets ${from} to ${earliest - 1} were deleted by retention before they landed in the warehouse. Restore the log from a copy, or start with --accept-gap to go on without them`,
  );
}
