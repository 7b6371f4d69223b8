/** `sql --out`: a file that holds every row, or an error; never a short file that looks whole. */
import { createReadStream, createWriteStream, renameSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { Cells } from '../table.ts';
import { closing, type FileFormat, line, opening } from './result.ts';

/** Rows a chunk at a time, and how many the query says there are. */
export interface RowStream {
  columns: string[];
  total: number;
  rows: AsyncIterable<readonly Cells[]>;
}

/**
 * Writes the rows beside the file, counts them again from what was written, and puts it in place only when the
 * counts agree.
 * @returns the number of rows.
 * @throws FlipstreamError `export_short` (fatal).
 */
export async function exportRows(
  file: string,
  result: RowStream,
  as: FileFormat,
  onRows: (rows: number) => void,
): Promise<number> {
  const fresh = `${file}.${process.pid}.part`;
  try {
    await pipeline(Readable.from(pieces(result, as, onRows)), createWriteStream(fresh, { flush: true }));
    const found = await countRows(fresh, as);
    if (found !== result.total)
      throw new FlipstreamError(
        'export_short',
        'fatal',
        `${file} was not written: ${found} rows arrived in it and the query gave ${result.total}. Check the disk and try again.`,
      );
    renameSync(fresh, file);
    return found;
  } finally {
    rmSync(fresh, { force: true });
  }
}

async function* pieces(
  { columns, rows }: RowStream,
  as: FileFormat,
  onRows: (rows: number) => void,
): AsyncGenerator<string> {
  yield opening(columns, as);
  let count = 0;
  for await (const chunk of rows) {
    yield chunk.map((row, i) => line(columns, row, count + i, as)).join('');
    count += chunk.length;
    onRows(count);
  }
  yield closing(as);
}

/** Rows in an exported file: CSV records after the header, or lines between the brackets of the JSON array. */
async function countRows(file: string, as: FileFormat): Promise<number> {
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
