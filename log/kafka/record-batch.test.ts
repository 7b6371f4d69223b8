import { fc, test as prop } from '@fast-check/vitest';
import kafkajs from 'kafkajs';
import recordOf from 'kafkajs/src/protocol/recordBatch/record/v0/index.js';
import batchOf from 'kafkajs/src/protocol/recordBatch/v0/index.js';
import { describe, expect, test } from 'vitest';
import './client.ts';
import { type Aborted, readBatches } from './record-batch.ts';

const { CompressionTypes } = kafkajs;
const ATTRIBUTES_AT = 21;
const CONTROL = 0x20;

interface Made {
  base: number;
  producerId: number;
  transactional: boolean;
  values: readonly string[];
  compression?: number;
}

/** A batch as a broker would give it. */
async function made({ base, producerId, transactional, values, compression = 0 }: Made): Promise<Buffer> {
  const records = values.map((value, n) =>
    recordOf({ key: `k${n}`, value, offsetDelta: n, timestampDelta: n }),
  );
  const { buffer } = await batchOf.RecordBatch({
    compression,
    firstOffset: base,
    firstTimestamp: 1_780_000_000_000,
    maxTimestamp: 1_780_000_000_999,
    lastOffsetDelta: Math.max(values.length - 1, 0),
    transactional,
    producerId,
    producerEpoch: 0,
    firstSequence: 0,
    records,
  });
  return Buffer.from(buffer);
}

/** The end of a transaction. */
async function marker(base: number, producerId: number, commits: boolean): Promise<Buffer> {
  const key = Buffer.from([0, 0, 0, commits ? 1 : 0]);
  const records = [recordOf({ key, value: Buffer.alloc(6), offsetDelta: 0, timestampDelta: 0 })];
  const { buffer } = await batchOf.RecordBatch({
    compression: 0,
    firstOffset: base,
    firstTimestamp: 0,
    maxTimestamp: 0,
    lastOffsetDelta: 0,
    transactional: true,
    producerId,
    producerEpoch: 0,
    firstSequence: 0,
    records,
  });
  const bytes = Buffer.from(buffer);
  bytes.writeInt16BE(bytes.readInt16BE(ATTRIBUTES_AT) | CONTROL, ATTRIBUTES_AT);
  return bytes;
}

const PRODUCERS = 3;
/** What three producers do, one thing after another: write, or end what they have written. */
const Story = fc.array(
  fc.record({
    producerId: fc.integer({ min: 1, max: PRODUCERS }),
    does: fc.constantFrom('write', 'write', 'commit', 'abort'),
    values: fc.array(fc.string(), { minLength: 1, maxLength: 3 }),
    compression: fc.constantFrom(0, 1, 4),
  }),
  { maxLength: 30 },
);

describe('record batches', () => {
  prop.prop([Story, fc.nat(40)])(
    'give what was committed, in order, from wherever one begins and however transactions overlap',
    async (story, from) => {
      const pieces: Buffer[] = [];
      const open = new Map<number, { first: number; records: [number, string][] }>();
      const committed: [number, string][] = [];
      const aborted: Aborted[] = [];
      let at = 0;
      const finish = async (producerId: number, commits: boolean) => {
        const own = open.get(producerId);
        if (!own) return;
        open.delete(producerId);
        if (commits) committed.push(...own.records);
        else aborted.push({ producerId: BigInt(producerId), firstOffset: own.first });
        pieces.push(await marker(at++, producerId, commits));
      };
      for (const { producerId, does, values, compression } of story) {
        if (does !== 'write') await finish(producerId, does === 'commit');
        else {
          const own = open.get(producerId) ?? { first: at, records: [] };
          open.set(producerId, own);
          own.records.push(...values.map((value, n): [number, string] => [at + n, value]));
          pieces.push(await made({ base: at, producerId, transactional: true, values, compression }));
          at += values.length;
        }
      }
      for (const producerId of [...open.keys()]) await finish(producerId, false);

      // A broker gives whole batches, from the one that holds `from` on, and of the aborted those that reach it.
      const { records, nextOffset } = await readBatches(Buffer.concat(pieces), from, aborted);
      const wanted = committed.filter(([offset]) => offset >= from).sort((a, b) => a[0] - b[0]);
      expect(records.map(({ offset, value }) => [offset, value.toString()])).toEqual(wanted);
      expect(nextOffset).toBe(Math.max(from, at));
    },
  );

  test('keys, values and times come through, with each compression', async () => {
    for (const compression of [CompressionTypes.None, CompressionTypes.GZIP, CompressionTypes.ZSTD]) {
      const bytes = await made({
        base: 7,
        producerId: -1,
        transactional: false,
        values: ['ä', ''],
        compression,
      });
      expect((await readBatches(bytes, 0, [])).records).toEqual([
        { offset: 7, key: 'k0', value: Buffer.from('ä'), timestamp: 1_780_000_000_000 },
        { offset: 8, key: 'k1', value: Buffer.alloc(0), timestamp: 1_780_000_000_001 },
      ]);
    }
  });

  test('a batch that compaction has emptied is passed; one that is cut off is left for the next fetch', async () => {
    const empty = await made({ base: 4, producerId: 1, transactional: true, values: [] });
    empty.writeInt32BE(5, LAST_AT);
    const next = await plain(10, 'a');
    const nothing = { records: [], unreadable: [], nextOffset: 10 };
    expect(await readBatches(empty, 4, [])).toEqual(nothing);
    const cut = Buffer.concat([empty, next.subarray(0, -1)]);
    expect(await readBatches(cut, 4, [])).toEqual(nothing);
    expect((await readBatches(Buffer.concat([empty, next]), 4, [])).nextOffset).toBe(11);
  });
});

const plain = (base: number, ...values: string[]) =>
  made({ base, producerId: -1, transactional: false, values });
const zstd = (base: number, ...values: string[]) =>
  made({ base, producerId: -1, transactional: false, values, compression: CompressionTypes.ZSTD });

const FORMAT_AT = 16;
const LAST_AT = 23;
const COUNT_AT = 57;
const RECORDS_AT = 61;

/** Each has the records of the offsets 5 to 7, or says so. */
const UNREADABLE: [string, () => Promise<Buffer>, RegExp][] = [
  ['compressed with snappy', () => withCodec(2), /snappy, and only gzip and zstd/],
  ['compressed with lz4', () => withCodec(3), /lz4/],
  [
    'whose compressed bytes are damaged',
    async () => (await zstd(5, 'a', 'b', 'c')).fill(1, RECORDS_AT),
    /damaged/,
  ],
  [
    'that unpacks to more than there may be',
    () => zstd(5, 'a'.repeat(2_000), 'b', 'c'),
    /more than 1000 bytes/,
  ],
  ['of more records than are read at once', () => plain(5, ...Array<string>(20).fill('')), /more records/],
  [
    'with a record longer than it',
    async () => reached(await plain(5, 'a', 'b', 'c'), 120),
    /record number 1/,
  ],
  [
    'with a record of less than nothing',
    async () => reached(await plain(5, 'a', 'b', 'c'), 5),
    /record number 1/,
  ],
  [
    'with more records than lie in it',
    async () => counting(await plain(5, 'a', 'b', 'c'), 9),
    /record number 4/,
  ],
  ['of an older format', async () => (await plain(5, 'a')).fill(1, FORMAT_AT, FORMAT_AT + 1), /format 1/],
];

async function withCodec(codec: number): Promise<Buffer> {
  const bytes = await plain(5, 'a', 'b', 'c');
  bytes.writeInt16BE(codec, ATTRIBUTES_AT);
  return bytes;
}

/** Its first record says that it has another length. @param length zigzag */
function reached(bytes: Buffer, length: number): Buffer {
  bytes.writeUInt8(length, RECORDS_AT);
  return bytes;
}

function counting(bytes: Buffer, count: number): Buffer {
  bytes.writeInt32BE(count, COUNT_AT);
  return bytes;
}

describe('a batch that cannot be read', () => {
  const MOST = 1000;

  test.each(UNREADABLE)(
    '%s stands as one, with its place and its bytes; what lies around it is read',
    async (_, make, why) => {
      const bytes = await make();
      const last = bytes[FORMAT_AT] === 2 ? 5 + bytes.readInt32BE(LAST_AT) : 5;
      const all = Buffer.concat([await plain(4, 'before'), bytes, await zstd(last + 1, 'behind')]);
      const read = await readBatches(all, 0, [], MOST);
      expect(read.records.map(({ offset, value }) => [offset, value.toString()])).toEqual([
        [4, 'before'],
        [last + 1, 'behind'],
      ]);
      expect(read.unreadable).toMatchObject([
        { record: { offset: 5, value: bytes }, reason: 'batch_unreadable' },
      ]);
      expect(read.unreadable[0]?.message).toMatch(why);
      expect(read.unreadable[0]?.message).toContain(`at the offsets 5 to ${last}`);
      expect(read.nextOffset).toBe(last + 2);
      const behind = await readBatches(all, last + 1, [], MOST);
      expect([behind.records.length, behind.unreadable]).toEqual([1, []]);
    },
  );

  test('in a transaction that was aborted it is nothing at all', async () => {
    const bytes = await made({ base: 5, producerId: 9, transactional: true, values: ['a'] });
    bytes.writeInt16BE(bytes.readInt16BE(ATTRIBUTES_AT) | 2, ATTRIBUTES_AT);
    const nothing = { records: [], unreadable: [], nextOffset: 6 };
    expect(await readBatches(bytes, 5, [{ producerId: 9n, firstOffset: 5 }])).toEqual(nothing);
  });

  test('batches that come to more than there may be at once are read one after another, none left out', async () => {
    const all = Buffer.concat(await Promise.all([0, 1, 2].map((base) => zstd(base, 'x'.repeat(700)))));
    const first = await readBatches(all, 0, [], MOST);
    expect([first.records.length, first.nextOffset]).toEqual([2, 2]);
    const second = await readBatches(all, first.nextOffset, [], MOST);
    expect([second.records.length, second.nextOffset]).toEqual([1, 3]);
  });
});
