/** `sql --out`: a file that holds every row, or an error; never a short file that looks whole. */
import { createReadStream, createWriteStream, renameSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { FlipstreamError } from '../../schemas/errors.ts';
import { type Format, pieces, type QueryResult } from './result.ts';

/**
 * Writes the rows beside the file, counts them again from what was written, and puts it in place only when the
 * counts agree.
 * @returns the number of rows.
 * @throws FlipstreamError `export_short` (fatal).
 */
export async function exportRows(
  file: string,
  result: QueryResult,
  as: Exclude<Format, 'table'>,
): Promise<number> {
  const fresh = `${file}.${process.pid}.part`;
  try {
    await pipeline(Readable.from(pieces(result, as)), createWriteStream(fresh, { flush: true }));
    const found = await countRows(fresh, as);
    assertWhole(file, found, result.rows.length);
    renameSync(fresh, file);
    return found;
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** @throws FlipstreamError `export_short` (fatal) when the file does not hold what the query gave. */
export function assertWhole(file: string, found: number, expected: number): void {
  if (found === expected) return;
  throw new FlipstreamError(
    'export_short',
    'fatal',
    `${file} was not written: ${found} rows arrived in it and the query gave ${expected}. Check the disk and try again.`,
  );
}

/** Rows in an exported file: CSV records after the header, or lines between the brackets of the JSON array. */
export async function countRows(file: string, as: Exclude<Format, 'table'>): Promise<number> {
  let quoted = false;
  let ends = 0;
  for await (const chunk of createReadStream(file)) {
    for (const byte of Buffer.from(chunk)) {
      if (as === 'csv' && byte === 0x22) quoted = !quoted;
      else if (byte === 0x0a && !quoted) ends += 1;
    }
  }
  // CSV: one more for the header. JSON: one before each row, one before the bracket, one after it.
  return as === 'csv' ? ends - 1 : ends - 2;
}
