import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { Found } from './walk.ts';

/** A file to import, read as often as it takes; what it holds tells how it is packed, not its name. */
export interface Source extends Found {
  /** Its first bytes, unpacked. */
  head: Buffer;
  /** Its bytes from the beginning, unpacked, a part at a time. */
  chunks(): AsyncIterable<Buffer>;
}

/** Enough to see a document's first fields, or a file's first lines. */
const HEAD = 256 * 1024;
/** Of a file whose first line is longer: a whole conversation may be one. */
const LONG_HEAD = 4 * 2 ** 20;
/** Each is committed by itself, with a sync of the disk. */
const CHUNK = 2 ** 20;
/** Of what is unpacked: what is before a cut in the file comes out up to the last whole part. */
const UNPACKED_CHUNK = 32 * 1024;

type Packing = 'gzip' | 'zstd' | null;

/** @throws what the disk says, or zlib of a file that is damaged in its beginning */
export async function openSource(found: Found): Promise<Source> {
  const chunks = () => joined(found.parts);
  const parts: Buffer[] = [];
  let length = 0;
  let lines = false;
  try {
    for await (const chunk of chunks()) {
      parts.push(chunk);
      length += chunk.length;
      lines ||= chunk.includes('\n');
      if (length >= (lines ? HEAD : LONG_HEAD)) break;
    }
  } catch (error) {
    // what is before the damage can be read; whoever reads all of it will meet the damage again
    if (length === 0) throw error;
  }
  return { ...found, head: Buffer.concat(parts), chunks };
}

/**
 * A source's bytes as far as they can be unpacked.
 * @param damaged told when there would be more, which cannot
 */
export async function* unharmed(source: Source, damaged: () => void = () => {}): AsyncGenerator<Buffer> {
  try {
    yield* source.chunks();
  } catch (error) {
    if (!isPacked(error)) throw error;
    damaged();
  }
}

/** Whether it is of a compressed file that is damaged or cut off. */
export function isPacked(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(?:Z_|ZSTD_)/.test(String(error.code));
}

/** Parts are lines of one file. */
async function* joined(parts: readonly string[]): AsyncGenerator<Buffer> {
  for (const [at, part] of parts.entries()) {
    if (at > 0) yield Buffer.from('\n');
    yield* unpacked(part, await packingOf(part));
  }
}

async function packingOf(path: string): Promise<Packing> {
  let file: FileHandle | null = null;
  try {
    file = await open(path, 'r');
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    if (buffer.readUInt16BE(0) === 0x1f8b) return 'gzip';
    return buffer.readUInt32LE(0) === 0xfd2fb528 ? 'zstd' : null;
  } finally {
    await file?.close();
  }
}

async function* unpacked(path: string, packing: Packing): AsyncGenerator<Buffer> {
  const raw = createReadStream(path, { highWaterMark: CHUNK });
  if (packing === null) {
    yield* raw;
    return;
  }
  const unpack =
    packing === 'gzip'
      ? createGunzip({ chunkSize: UNPACKED_CHUNK })
      : createZstdDecompress({ chunkSize: UNPACKED_CHUNK });
  // its errors come out of the iteration below
  pipeline(raw, unpack, () => {});
  yield* unpack;
}
