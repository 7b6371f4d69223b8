import { expect, test } from 'vitest';
import { FlipstreamError } from '../../schemas/errors.ts';
import { decodeBatch, type Refused } from '../values.ts';
import { batchesOf } from './portions.ts';

const record = (offset: number) => ({ offset, timestamp: 0, key: 'k', value: Buffer.from([offset]) });
const unreadable = (offset: number): Refused => ({
  record: record(offset),
  reason: 'batch_unreadable',
  message: 'm',
});
const decode = (bytes: Buffer) => {
  if (bytes[0] === 8) throw new FlipstreamError('newer_writer', 'retryable', 'waits');
  return Number(bytes[0]);
};

test('what cannot be read is refused with the batch in whose stretch it lies, and none before a record that waits is left out', () => {
  const portion = {
    records: [2, 5, 6, 8, 9].map(record),
    unreadable: [0, 3, 7, 10].map(unreadable),
    nextOffset: 12,
    end: 12,
    earliest: 0,
  };
  const batches = batchesOf('trace.raw', 0, portion, { records: 2, bytes: 1000 });
  const told = batches.map((batch) => {
    const { batch: done, refused, waits } = decodeBatch('trace.raw', batch, decode);
    return [done.nextOffset, refused.map((one) => one.record.offset), waits?.code];
  });
  expect(told).toEqual([
    [6, [0, 3], undefined],
    [8, [7], 'newer_writer'],
    [12, [10], undefined],
  ]);
  const [empty] = batchesOf('trace.raw', 0, { ...portion, records: [] }, { records: 2, bytes: 1000 });
  expect(empty).toMatchObject({ records: [], nextOffset: 12, unreadable: portion.unreadable });
});
