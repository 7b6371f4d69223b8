import { readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { hasCode } from '../../schemas/errors.ts';

/** A payload as it came, or what is kept of one over the limit. */
export type Input =
  | { kind: 'whole'; bytes: Buffer }
  | { kind: 'too_large'; beginning: Buffer; bytes: number; hash: string };

/** A payload that is being read. */
export interface Reading {
  /** Never rejects. */
  whole: Promise<Input>;
  /** What came until now. */
  soFar: () => Input;
}

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
export function readStdin(stream: () => Readable, options: InputOptions): Reading {
  const first = Buffer.allocUnsafe(BEGINNING);
  let length: number;
  try {
    length = readSync(0, first, 0, first.length, null);
    if (length === 0) return known(first.subarray(0, 0));
  } catch (error) {
    if (hasCode(error, 'EOF')) return known(first.subarray(0, 0));
    length = 0; // not to be read this way (EAGAIN, a terminal)
  }
  const held = first.subarray(0, length);
  return isWhole(held) ? known(held) : readInput(stream(), options, held);
}

function known(bytes: Buffer): Reading {
  const input: Input = { kind: 'whole', bytes };
  return { whole: Promise.resolve(input), soFar: () => input };
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

/** Reads a stream to its end. Ends also when the writer goes silent without closing it. */
export function readInput(stream: Readable, options: InputOptions, held?: Buffer): Reading {
  const { limit, idleMs } = options;
  const hasher = options.hasher();
  let chunks: Buffer[] = [];
  let bytes = 0;
  let beginning: Buffer | null = null;
  const soFar = (): Input =>
    beginning
      ? { kind: 'too_large', beginning, bytes, hash: hasher.digest() }
      : { kind: 'whole', bytes: Buffer.concat(chunks) };
  const whole = new Promise<Input>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stream.removeAllListeners('data');
      resolve(soFar());
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
  return { whole, soFar };
}
