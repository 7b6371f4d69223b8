import type { Batch } from '../../log/log.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { isoTime } from '../../schemas/time.ts';
import { TOPICS } from '../../schemas/topics.ts';
import type { Cargo } from '../../warehouse/land.ts';
import { clearSheet, newSheet, type Sheet } from '../../warehouse/sheet.ts';
import { type LandedTopic, type TableName, tableColumns } from '../../warehouse/tables.ts';
import { createRowWriter } from './rows.ts';

/** What waits in memory to land in one table. */
export interface Hold {
  /** Takes a batch in; what was taken before is passed over. @throws FlipstreamError `log_gap` (fatal) */
  take(batch: Batch<LandedTopic, Buffer>, logId: string, now: number): void;
  /** Where a partition goes on, once the table has been asked. */
  expect(partition: number, next: number): void;
  /** Everything held, which is held no longer, maybe only how far was read; null when there is nothing. */
  unload(): (Cargo & { delays: readonly number[] }) | null;
  /** Takes back a sheet that was unloaded and is done with. */
  reuse(sheet: Sheet): void;
  readonly rows: number;
  readonly weight: number;
}

export function createHold(table: TableName, topic: LandedTopic, acceptGap: boolean): Hold {
  const columns = tableColumns(table);
  const writer = createRowWriter(table);
  const expected = new Map<number, number>();
  let sheet = newSheet(columns);
  let spare: Sheet | null = null;
  let published: number[] = [];
  /** Read on without a row: past dead letters, or past what retention took. */
  let passed = false;
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
      const write = writer.from(logId, isoTime(now));
      for (const record of batch.records) {
        if (record.offset < from) continue;
        write(sheet, record);
        published.push(record.timestamp);
        weight += ROW_WEIGHT + record.value.length;
      }
      passed ||= batch.records.length === 0;
      const to = Math.max(from, batch.nextOffset);
      expected.set(partition, to);
      next.set(partition, to);
    },
    expect(partition, from) {
      expected.set(partition, from);
    },
    unload() {
      if (sheet.rows === 0 && !passed) return null;
      const logId = logIdHeld;
      const cargo = {
        sheet,
        delays: published,
        next: new Map(next),
        appId: (partition: number) => appId(logId, topic, partition),
      };
      sheet = spare ?? newSheet(columns);
      spare = null;
      published = [];
      passed = false;
      weight = 0;
      next.clear();
      return cargo;
    },
    reuse(done) {
      clearSheet(done);
      spare = done;
    },
    get rows() {
      return sheet.rows;
    },
    get weight() {
      return weight;
    },
  };
}

/** About what a row takes besides its record's own bytes. */
const ROW_WEIGHT = 300;

/** Under this name a table keeps how far a partition has landed. */
export function appId(logId: string, topic: string, partition: number): string {
  return `${logId}/${topic}/${partition}`;
}

function gap({ topic, partition, earliest }: Batch<LandedTopic, Buffer>, from: number): FlipstreamError {
  return new FlipstreamError(
    'log_gap',
    'fatal',
    `${topic}/${partition}: offsets ${from} to ${earliest - 1} were deleted by retention before they landed in the warehouse. Restore the log from a copy, or start with --accept-gap to go on without them`,
  );
}
