import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../schemas/hash.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import type { Home } from '../home.ts';

/** Where a session's JSON Lines lie. */
export function traceFile(home: Home, sessionId: string): string {
  return join(home.traces, `${sha256(sessionId)}.jsonl`);
}

export interface TraceFiles {
  /**
   * Appends lines durably. What lies beyond the known length is a torn or repeated tail, and goes.
   * @param before bytes of all lines that come before these; asked when the file was not used lately
   * @returns bytes that were missing before them: someone cut the file short
   */
  append(sessionId: string, lines: readonly string[], before: () => number): Promise<number>;
}

const REMEMBERED = 4096;

export function openTraceFiles(home: Home): TraceFiles {
  makeFolder(home.traces);
  /** Length that each file should have now; dropped when in doubt. */
  const lengths = new Map<string, number>();

  return {
    async append(sessionId, lines, before) {
      const known = lengths.get(sessionId);
      lengths.delete(sessionId);
      const file = await open(traceFile(home, sessionId), 'a+', 0o600);
      try {
        const { size } = await file.stat();
        const expected = known ?? before();
        const length = size < expected ? await wholeLines(file, size) : expected;
        if (size > length) await file.truncate(length);
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        await file.appendFile(bytes);
        await file.datasync();
        if (lengths.size >= REMEMBERED) lengths.delete(lengths.keys().next().value ?? '');
        lengths.set(sessionId, length + bytes.length);
        return expected - length;
      } finally {
        await file.close();
      }
    },
  };
}

/** Length of the whole lines at a file's beginning. */
async function wholeLines(file: FileHandle, size: number): Promise<number> {
  const block = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - block.length);
    const { bytesRead } = await file.read(block, 0, end - from, from);
    const at = block.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (at !== -1) return from + at + 1;
    end = from;
  }
  return 0;
}
