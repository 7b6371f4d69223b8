/**
 * Kafka's record batches (format 2) to records. Our own, since kafkajs 2.2.4 lets records of aborted transactions
 * through where several overlap, never gets past a batch that compaction has emptied, and makes an object of
 * every field: this is several times as fast.
 */
import { FlipstreamError } from '../../schemas/errors.ts';
import type { RawRecord } from '../values.ts';
import { ungzip, unzstd } from './unpack.ts';

/** Bytes of a batch before its records, and those before its length counts. */
const HEADER = 61;
const LENGTH_END = 12;
const FORMAT = 2;

const CODEC = 0x07;
const LOG_APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;

const ABORT_MARKER = 0;

/** A transaction that was aborted, as the broker tells it beside the records. */
export interface Aborted {
  producerId: bigint;
  firstOffset: number;
}

export interface Records {
  /** A record without a value has an empty one. */
  records: RawRecord[];
  /** Above everything that was looked at, markers and aborted records included. */
  nextOffset: number;
}

/**
 * Committed records from `from` on. A batch that was cut off at the end is left for the next fetch.
 * @throws FlipstreamError `kafka_codec` (fatal) for a compression that we do not read.
 */
export async function readBatches(
  bytes: Buffer,
  from: number,
  aborted: readonly Aborted[],
): Promise<Records> {
  const pending = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  const open = new Set<bigint>();
  const records: RawRecord[] = [];
  let nextOffset = from;
  for (let at = 0; at + HEADER <= bytes.length; ) {
    const end = at + LENGTH_END + bytes.readInt32BE(at + 8);
    if (end > bytes.length) break;
    const batch = headerOf(bytes, at);
    while (pending[0] && pending[0].firstOffset <= batch.last) {
      open.add(pending[0].producerId);
      pending.shift();
    }
    if (batch.attributes & CONTROL) {
      if (batch.count > 0 && markerOf(bytes, at + HEADER) === ABORT_MARKER) open.delete(batch.producerId);
    } else if (!(batch.attributes & TRANSACTIONAL && open.has(batch.producerId))) {
      const packed = bytes.subarray(at + HEADER, end);
      readRecords(await unpack(packed, batch.attributes & CODEC), batch, from, records);
    }
    nextOffset = Math.max(nextOffset, batch.last + 1);
    at = end;
  }
  return { records, nextOffset };
}

interface Header {
  base: number;
  last: number;
  attributes: number;
  baseTime: number;
  maxTime: number;
  producerId: bigint;
  count: number;
}

function headerOf(bytes: Buffer, at: number): Header {
  const format = bytes.readInt8(at + 16);
  if (format !== FORMAT) {
    throw new FlipstreamError(
      'kafka_codec',
      'fatal',
      `a batch of records has the format ${format}, and ${FORMAT} is what brokers write since 2017`,
    );
  }
  const base = Number(bytes.readBigInt64BE(at));
  return {
    base,
    last: base + bytes.readInt32BE(at + 23),
    attributes: bytes.readInt16BE(at + 21),
    baseTime: Number(bytes.readBigInt64BE(at + 27)),
    maxTime: Number(bytes.readBigInt64BE(at + 35)),
    producerId: bytes.readBigInt64BE(at + 43),
    count: bytes.readInt32BE(at + 57),
  };
}

function unpack(packed: Buffer, codec: number): Promise<Buffer> | Buffer {
  if (packed.length === 0 || codec === 0) return packed;
  if (codec === 1) return ungzip(packed);
  if (codec === 4) return unzstd(packed);
  throw new FlipstreamError(
    'kafka_codec',
    'fatal',
    `a batch of records is compressed with ${codec === 2 ? 'snappy' : codec === 3 ? 'lz4' : `codec ${codec}`}; only gzip and zstd are read: set compression.type=producer on the topic and have its producers use one of them`,
  );
}

/** The kind of a marker is in its key: two bytes of version, two of type. */
function markerOf(bytes: Buffer, at: number): number {
  const cursor = { bytes, at };
  readVarint(cursor);
  cursor.at += 1;
  readVarint(cursor);
  readVarint(cursor);
  readVarint(cursor);
  return bytes.readInt16BE(cursor.at + 2);
}

function readRecords(bytes: Buffer, batch: Header, from: number, into: RawRecord[]): void {
  const cursor = { bytes, at: 0 };
  for (let n = 0; n < batch.count; n++) {
    const length = readVarint(cursor);
    const end = cursor.at + length;
    cursor.at += 1; // attributes, which no version uses
    const time = batch.baseTime + readVarint(cursor);
    const offset = batch.base + readVarint(cursor);
    if (offset >= from) {
      const key = readBytes(cursor)?.toString() ?? '';
      const value = readBytes(cursor) ?? EMPTY;
      const timestamp = batch.attributes & LOG_APPEND_TIME ? batch.maxTime : time;
      into.push({ offset, timestamp, key, value });
    }
    cursor.at = end;
  }
}

const EMPTY = Buffer.alloc(0);

interface Cursor {
  bytes: Buffer;
  at: number;
}

function readBytes(cursor: Cursor): Buffer | null {
  const length = readVarint(cursor);
  if (length < 0) return null;
  const start = cursor.at;
  cursor.at += length;
  return cursor.bytes.subarray(start, cursor.at);
}

/** Zigzag, seven bits a byte; times need more than 32 bits, so no bitwise operators on the whole. */
function readVarint(cursor: Cursor): number {
  const { bytes } = cursor;
  let byte = bytes[cursor.at++] ?? 0;
  if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
  let value = byte & 0x7f;
  let scale = 0x80;
  do {
    byte = bytes[cursor.at++] ?? 0;
    value += (byte & 0x7f) * scale;
    scale *= 0x80;
  } while (byte >= 0x80);
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}
