/** Kafka's compressions to bytes, never to more of them than there may be. */
import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';
import { FlipstreamError } from '../../schemas/errors.ts';

const LEAST = 64 * 2 ** 10;
const MOST = 4 * 2 ** 20;

/**
 * Node gives out what it unpacks in pieces of 16 KiB and joins them: half of the time goes into that. Records rarely
 * come out at more than four times their packed size, so most batches come in one piece.
 */
const inOnePiece = ({ length }: Buffer) => ({ chunkSize: Math.min(Math.max(4 * length, LEAST), MOST) });

const zstd = promisify(zstdDecompress);
const gzip = promisify(gunzip);

export const unzstd = (packed: Buffer): Promise<Buffer> => zstd(packed, inOnePiece(packed));

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

/**
 * @param codec by Kafka's number
 * @param most bytes; a few kilobytes can unpack to gigabytes
 * @throws FlipstreamError `batch_unreadable` (poison); what says nothing about these bytes, as a lack of memory, as it is
 */
export async function unpack(packed: Buffer, codec: number, most: number): Promise<Buffer> {
  if (packed.length === 0 || CODECS[codec] === 'none') return packed;
  const options = { ...inOnePiece(packed), maxOutputLength: most };
  try {
    if (CODECS[codec] === 'gzip') return await gzip(packed, options);
    if (CODECS[codec] === 'zstd') return await zstd(packed, options);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ERR_BUFFER_TOO_LARGE') throw unreadable(`it unpacks to more than ${most} bytes`);
    if (isDamage(code)) throw unreadable(`its compressed bytes are damaged (${code})`);
    throw error;
  }
  const name = CODECS[codec] ?? `a codec of number ${codec}`;
  throw unreadable(
    `it is compressed with ${name}, and only gzip and zstd are read: flipstream kafka setup has the brokers compress anew what comes so`,
  );
}

/** Codes of zlib and of zstd, but for those that tell of memory. */
function isDamage(code: string): boolean {
  return /^(Z|ZSTD)_/.test(code) && !/mem/i.test(code);
}

export function unreadable(why: string): FlipstreamError {
  return new FlipstreamError('batch_unreadable', 'poison', why);
}
