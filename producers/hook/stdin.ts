import { readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { hasCode } from '../../schemas/errors.ts';

/** A payload as it came, or what is kept of one over the limit. */
export type Input =
  | { kind: 'whole'; bytes: Buffer }
  | { kind: 'too_large'; beginning: Buffer; bytes: number; hash: string };

export interface InputOptions {
  /** Bytes; of more only the beginning, length and hash are kept. */
  limit: number;
  /** Milliseconds without a byte after which what came is taken for all of it. */
  idleMs: number;
  /** The hash of what is over the limit; asked for only when a payload does not come in one piece. */
  hasher: () => Hasher;
}

export interface Hasher {
  update: (bytes: Buffer) => void;
  digest: () => string;
}

const BEGINNING = 65_536;

/**
 * The standard input. One blocking read first: a payload that comes whole (as nearly all do) is then known
 * without the streams of Node, whose loading costs 5 ms. Whatever is left is read by the stream, which gives up
 * on a writer that goes silent. A writer that never sends a first byte is left to the harness's own timeout.
 */
export async function readStdin(stream: () => Readable, options: InputOptions): Promise<Input> {
  const first = Buffer.allocUnsafe(BEGINNING);
  let length: number;
  try {
    length = readSync(0, first, 0, first.length, null);
    if (length === 0) return { kind: 'whole', bytes: first.subarray(0, 0) };
  } catch (error) {
    if (hasCode(error, 'EOF')) return { kind: 'whole', bytes: first.subarray(0, 0) };
    length = 0; // not to be read this way (EAGAIN, a terminal)
  }
  const held = first.subarray(0, length);
  if (isWhole(held)) return { kind: 'whole', bytes: held };
  return readInput(stream(), options, held);
}

/** An object that is complete needs no end of file. */
function isWhole(bytes: Buffer): boolean {
  const text = bytes.toString('utf8');
  if (!/\}\s{0,16}$/.test(text.slice(-17))) return false;
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

/** Reads a stream to its end. Ends also when the writer goes silent without closing it. Never rejects. */
export function readInput(stream: Readable, options: InputOptions, held?: Buffer): Promise<Input> {
  const { limit, idleMs } = options;
  const hasher = options.hasher();
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    let beginning: Buffer | null = null;
    const end = () => {
      clearTimeout(timer);
      stream.removeAllListeners('data');
      if (beginning) resolve({ kind: 'too_large', beginning, bytes, hash: hasher.digest() });
      else resolve({ kind: 'whole', bytes: Buffer.concat(chunks) });
    };
    const timer = setTimeout(end, idleMs);
    const take = (chunk: Buffer) => {
      timer.refresh();
      bytes += chunk.length;
      if (beginning) {
        hasher.update(chunk);
        return;
      }
      chunks.push(chunk);
      if (bytes <= limit) return;
      beginning = Buffer.concat(chunks).subarray(0, BEGINNING);
      for (const one of chunks) hasher.update(one);
      chunks = [];
    };
    if (held && held.length > 0) take(held);
    stream.on('data', take);
    stream.once('end', end);
    stream.once('error', end);
    stream.once('close', end);
  });
}
