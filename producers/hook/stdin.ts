import type { Readable } from 'node:stream';

/** A payload as it came, or what is kept of one over the limit. */
export type Input =
  | { kind: 'whole'; bytes: Buffer }
  | { kind: 'too_large'; beginning: Buffer; bytes: number; hash: string };

export interface InputOptions {
  /** Bytes; more is only counted and hashed. */
  limit: number;
  /** Milliseconds without a byte after which what came is taken for all of it. */
  idleMs: number;
  /** The keyed hash of what is too large, made when it is needed. */
  hasher: () => { update: (bytes: Buffer) => void; digest: () => string };
}

const BEGINNING = 65_536;

/** Reads a stream to its end. Ends also when the writer goes silent without closing it. Never rejects. */
export function readInput(stream: Readable, { limit, idleMs, hasher }: InputOptions): Promise<Input> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    let over: { beginning: Buffer; hash: ReturnType<typeof hasher> } | null = null;
    const end = () => {
      clearTimeout(timer);
      stream.removeAllListeners('data');
      if (over) resolve({ kind: 'too_large', beginning: over.beginning, bytes, hash: over.hash.digest() });
      else
        resolve({
          kind: 'whole',
          bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks),
        });
    };
    const timer = setTimeout(end, idleMs);
    stream.on('data', (chunk: Buffer) => {
      timer.refresh();
      bytes += chunk.length;
      if (over) {
        over.hash.update(chunk);
        return;
      }
      chunks.push(chunk);
      if (bytes <= limit) return;
      over = { beginning: Buffer.concat(chunks).subarray(0, BEGINNING), hash: hasher() };
      for (const held of chunks) over.hash.update(held);
      chunks = [];
    });
    stream.once('end', end);
    stream.once('error', end);
    stream.once('close', end);
  });
}
