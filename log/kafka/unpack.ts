import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';

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
export const ungzip = (packed: Buffer): Promise<Buffer> => gzip(packed, inOnePiece(packed));
