import type { TopicName } from '../../schemas/topics.ts';
import type { RawBatch, RawRecord, Refused } from '../values.ts';
import type { Portion } from './feed.ts';

export interface Limit {
  records: number;
  bytes: number;
}

/** What was fetched, cut to batches of at most a limit; the last one ends where the portion ends. */
export function batchesOf(topic: TopicName, partition: number, portion: Portion, limit: Limit): RawBatch[] {
  const { end, earliest } = portion;
  const batches: RawBatch[] = [];
  let records: RawRecord[] = [];
  let bytes = 0;
  for (const record of portion.records) {
    records.push(record);
    bytes += record.value.length;
    if (records.length >= limit.records || bytes >= limit.bytes) {
      batches.push({ topic, partition, records, nextOffset: record.offset + 1, end, earliest });
      records = [];
      bytes = 0;
    }
  }
  const last = batches.at(-1);
  if (records.length > 0 || !last)
    batches.push({ topic, partition, records, nextOffset: portion.nextOffset, end, earliest });
  else last.nextOffset = portion.nextOffset;
  let from = Number.NEGATIVE_INFINITY;
  for (const batch of batches) {
    const isIn = (one: Refused) => one.record.offset >= from && one.record.offset < batch.nextOffset;
    batch.unreadable = portion.unreadable.filter(isIn);
    from = batch.nextOffset;
  }
  return batches;
}
