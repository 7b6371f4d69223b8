/**
 * Kafka's record batches (format 2) to records. Our own, since kafkajs 2.2.4 lets records of aborted transactions
 * through where several overlap, never gets past a batch that compaction has emptied, and makes an object of
 * every field: this is several times as fast.
 */
import { FlipstreamError } from '../../schemas/errors.ts';
import type { RawRecord, Refused } from '../values.ts';
import { unpack, unreadable } from './unpack.ts';

/** Bytes of a batch before its records, those before its length counts, and those that every format begins with. */
const HEADER = 61;
const LENGTH_END = 12;
const FORMAT_END = 17;
const FORMAT = 2;

const CODEC = 0x07;
const LOG_APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;

const ABORT_MARKER = 0;

/** Most that batches read at once may come to in memory, bytes: twice what a topic takes as one. */
const UNPACKED_BYTES = 32 * 2 ** 20;
/** What a record takes there beside its bytes, at least. */
const RECORD_COST = 64;

/** A transaction that was aborted, as the broker tells it beside the records. */
export interface Aborted {
  producerId: bigint;
  firstOffset: number;
}

export interface Records {
  /** A record without a value has an empty one. */
  records: RawRecord[];
  /** Batches of which no records can be made: each stands there as one, at its first offset, with all of its bytes. */
  unreadable: Refused[];
  /** Above everything that was looked at, markers and aborted records included. */
  nextOffset: number;
}

/**
 * Committed records from `from` on. What was cut off at the end, or would unpack to more than there may be at once,
 * is left for the next fetch.
 * @param most bytes in memory. A single batch beyond them is unreadable
 */
export async function readBatches(
  bytes: Buffer,
  from: number,
  aborted: readonly Aborted[],
  most = UNPACKED_BYTES,
): Promise<Records> {
  const pending = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  const open = new Set<bigint>();
  const all: Records = { records: [], unreadable: [], nextOffset: from };
  let size = 0;
  for (let at = 0; at + FORMAT_END <= bytes.length && size < most; ) {
    const end = at + LENGTH_END + bytes.readInt32BE(at + 8);
    if (end > bytes.length || end < at + FORMAT_END) break;
    const batch = bytes.subarray(at, end);
    const header = headerOf(batch);
    while (pending[0] && pending[0].firstOffset <= header.last) {
      open.add(pending[0].producerId);
      pending.shift();
    }
    if (header.attributes & CONTROL) {
      if (header.count > 0 && markerOf(batch, HEADER) === ABORT_MARKER) open.delete(header.producerId);
    } else if (header.last >= from && !(header.attributes & TRANSACTIONAL && open.has(header.producerId))) {
      size += await readBatch(batch, header, from, most, all);
    }
    all.nextOffset = Math.max(all.nextOffset, header.last + 1);
    at = end;
  }
  return all;
}

/** @returns what it comes to in memory, bytes */
async function readBatch(
  batch: Buffer,
  header: Header,
  from: number,
  most: number,
  into: Records,
): Promise<number> {
  const before = into.records.length;
  try {
    if (header.format !== FORMAT)
      throw unreadable(`it has the format ${header.format}, and ${FORMAT} is what brokers write since 2017`);
    const cost = header.count * RECORD_COST;
    if (cost > most) throw unreadable('it has more records than are read at once');
    const plain = await unpack(batch.subarray(HEADER), header.attributes & CODEC, most);
    readRecords(plain, header, from, into.records);
    return plain.length + cost;
  } catch (error) {
    if (!(error instanceof FlipstreamError)) throw error;
    into.records.length = before;
    into.unreadable.push(refusedOf(batch, header, error));
    return batch.length;
  }
}

function refusedOf(batch: Buffer, { base, last, count, maxTime }: Header, error: FlipstreamError): Refused {
  return {
    record: { offset: base, timestamp: maxTime, key: '', value: batch },
    reason: error.code,
    message: `the batch of ${count} records at the offsets ${base} to ${last} cannot be read: ${error.message}`,
  };
}

interface Header {
  format: number;
  base: number;
  last: number;
  attributes: number;
  baseTime: number;
  maxTime: number;
  producerId: bigint;
  count: number;
}

/** Of a batch in another format only its place is known; it holds at least one record. */
function headerOf(batch: Buffer): Header {
  const format = batch.readInt8(16);
  const base = Number(batch.readBigInt64BE(0));
  if (format !== FORMAT || batch.length < HEADER)
    return { format, base, last: base, attributes: 0, baseTime: 0, maxTime: 0, producerId: -1n, count: 1 };
  return {
    format,
    base,
    last: base + batch.readInt32BE(23),
    attributes: batch.readInt16BE(21),
    baseTime: Number(batch.readBigInt64BE(27)),
    maxTime: Number(batch.readBigInt64BE(35)),
    producerId: batch.readBigInt64BE(43),
    count: batch.readInt32BE(57),
  };
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
    if (cursor.at > end || end > bytes.length || offset < batch.base || offset > batch.last)
      throw unreadable(`its record number ${n + 1} does not lie within it`);
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
