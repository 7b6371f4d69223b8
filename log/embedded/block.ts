import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { RawRecord } from '../values.ts';
import { DAMAGED_ADVICE } from './sqlite-errors.ts';

/** Each record: offset above the block's base, key and value length (32 bits each), time (64-bit float). */
const RECORD_HEADER = 20;
/** A block is closed when it holds this many bytes: enough to compress well, little to read for one record. */
export const BLOCK_BYTES = 512 * 1024;
/** Room that nearly every plain block fits in at once; in small pieces, joining them costs more than unpacking. */
const PLAIN_BYTES = BLOCK_BYTES + 64 * 1024;
/** Below this, compressing costs the reader more than the disk gains; maintenance merges small blocks later. */
const COMPRESS_FROM = 16 * 1024;

export interface Block {
  base: number;
  last: number;
  /** Time of the newest record. */
  timestamp: number;
  records: number;
  zstd: boolean;
  data: Buffer;
}

/** Packs records of one partition, in order of offset, into blocks. */
export function pack(records: readonly RawRecord[]): Block[] {
  const blocks: Block[] = [];
  let from = 0;
  let size = 0;
  records.forEach((record, index) => {
    size += RECORD_HEADER + Buffer.byteLength(record.key) + record.value.length;
    if (size < BLOCK_BYTES && index < records.length - 1) return;
    blocks.push(packOne(records.slice(from, index + 1), size));
    from = index + 1;
    size = 0;
  });
  return blocks;
}

function packOne(records: RawRecord[], size: number): Block {
  const data = Buffer.allocUnsafe(size);
  const base = records[0]?.offset ?? 0;
  let at = 0;
  let last = base;
  let timestamp = 0;
  for (const record of records) {
    const keyLength = data.write(record.key, at + RECORD_HEADER);
    data.writeUInt32LE(record.offset - base, at);
    data.writeUInt32LE(keyLength, at + 4);
    data.writeUInt32LE(record.value.length, at + 8);
    data.writeDoubleLE(record.timestamp, at + 12);
    record.value.copy(data, at + RECORD_HEADER + keyLength);
    at += RECORD_HEADER + keyLength + record.value.length;
    last = record.offset;
    timestamp = Math.max(timestamp, record.timestamp);
  }
  const zstd = size >= COMPRESS_FROM;
  const params = { [constants.ZSTD_c_compressionLevel]: 1 };
  return {
    base,
    last,
    timestamp,
    records: records.length,
    zstd,
    data: zstd ? zstdCompressSync(data, { params }) : data,
  };
}

/** The records of a block from `offset` on. Values are views into the block's bytes. */
export function* unpack(block: { base: number; data: Buffer }, offset: number): Generator<RawRecord> {
  const { base, data } = block;
  let at = 0;
  while (at < data.length) {
    const key = at + RECORD_HEADER;
    if (key > data.length) throw torn();
    const value = key + data.readUInt32LE(at + 4);
    const end = value + data.readUInt32LE(at + 8);
    if (end > data.length) throw torn();
    const own = base + data.readUInt32LE(at);
    if (own >= offset) {
      yield {
        offset: own,
        timestamp: data.readDoubleLE(at + 12),
        key: data.toString('utf8', key, value),
        value: data.subarray(value, end),
      };
    }
    at = end;
  }
}

/** The plain bytes of a stored block. @throws FlipstreamError `log_damaged` */
export function plain(data: Buffer, zstd: boolean): Buffer {
  if (!zstd) return data;
  try {
    return zstdDecompressSync(data, { chunkSize: PLAIN_BYTES });
  } catch (cause) {
    throw torn(cause);
  }
}

function torn(cause?: unknown): FlipstreamError {
  return new FlipstreamError(
    'log_damaged',
    'fatal',
    `a block of the log is damaged: ${DAMAGED_ADVICE}`,
    cause,
  );
}
