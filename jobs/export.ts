import { randomBytes } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { FlipstreamError, hasCode, messageOf } from '../schemas/errors.ts';
import { openReader, type ReaderOptions } from '../warehouse/query.ts';
import type { Value } from '../warehouse/values.ts';

export type ExportFormat = 'jsonl' | 'json' | 'csv';

export interface ExportOptions {
  columns: readonly string[];
  rows: AsyncIterable<readonly (readonly Value[])[]> | Iterable<readonly (readonly Value[])[]>;
  /** How many rows there are, counted apart from the rows themselves. */
  total: number;
  out: string;
  format: ExportFormat;
  /** Replace a file that is there already. */
  overwrite?: boolean;
}

export interface Exported {
  rows: number;
  bytes: number;
}

/**
 * Writes rows to a file, then counts the rows in the file again. The file gets its name only when the counts
 * agree, so a short export can never be taken for a whole one.
 * @throws FlipstreamError `export_short` (fatal), `export_exists` (usage), `export_write` (retryable)
 */
export async function exportRows(options: ExportOptions): Promise<Exported> {
  const { out, format, total, overwrite = false } = options;
  const part = `${out}.${randomBytes(4).toString('hex')}.part`;
  const remove = () => rmSync(part, { force: true });
  process.once('exit', remove); // a command that is stopped ends without coming back here
  try {
    const { rows: written, bytes } = await write(part, options);
    const found = await countRows(part, format);
    if (written !== total || found !== total) {
      throw new FlipstreamError(
        'export_short',
        'fatal',
        `${out} was not made: ${total} rows were to be written, ${written} were, and the file holds ${found}`,
      );
    }
    if (overwrite) renameSync(part, out);
    else linkSync(part, out);
    return { rows: found, bytes };
  } catch (cause) {
    if (cause instanceof FlipstreamError) throw cause;
    if (hasCode(cause, 'EEXIST')) {
      throw new FlipstreamError('export_exists', 'usage', `${out} exists: name another file`, cause);
    }
    throw new FlipstreamError(
      'export_write',
      'retryable',
      `${out} could not be written: ${messageOf(cause)}`,
      cause,
    );
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** `flipstream sql --out`: the answer of one SELECT, in a file. @throws as `exportRows`, and as `Reader.stream` */
export async function exportQuery(
  warehouse: string,
  sql: string,
  to: { out: string; format: ExportFormat; overwrite?: boolean; reader?: ReaderOptions },
): Promise<Exported> {
  const reader = await openReader(warehouse, to.reader);
  try {
    const { columns, total, rows } = await reader.stream(sql);
    return await exportRows({ ...to, columns: columns.map(({ name }) => name), rows, total });
  } finally {
    reader.close();
  }
}

async function write(path: string, { columns, rows, format }: ExportOptions): Promise<Exported> {
  const file = openSync(path, 'wx', 0o600);
  let written = 0;
  let bytes = 0;
  const put = (text: string) => {
    const data = Buffer.from(text);
    for (let at = 0; at < data.length; ) at += writeSync(file, data, at);
    bytes += data.length;
  };
  try {
    if (format === 'csv') put(`${columns.map(csvField).join(',')}\n`);
    if (format === 'json') put('[');
    for await (const chunk of rows) {
      put(chunk.map((row, index) => line(columns, row, format, written + index === 0)).join(''));
      written += chunk.length;
    }
    if (format === 'json') put('\n]\n');
    fsyncSync(file);
    return { rows: written, bytes };
  } finally {
    closeSync(file);
  }
}

function line(
  columns: readonly string[],
  row: readonly Value[],
  format: ExportFormat,
  first: boolean,
): string {
  if (format === 'csv') return `${row.map(csvField).join(',')}\n`;
  const record = JSON.stringify(Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null])));
  if (format === 'jsonl') return `${record}\n`;
  return `${first ? '' : ','}\n${record}`;
}

/** RFC 4180; null is an empty field, the empty string a quoted one. */
export function csvField(value: Value): string {
  if (value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows in an exported file, from its bytes alone: ends of lines outside quotes; JSON text has none inside a record. */
export async function countRows(path: string, format: ExportFormat): Promise<number> {
  const [QUOTE, END] = [0x22, 0x0a];
  let lines = 0;
  let quoted = false;
  let last = END;
  for await (const chunk of createReadStream(path)) {
    for (const byte of chunk) {
      if (byte === QUOTE && format === 'csv') quoted = !quoted;
      else if (byte === END && !quoted) lines++;
      last = byte;
    }
  }
  // A last line without its end was cut short: it is no row.
  const whole = last === END ? lines : lines - (format === 'json' ? 1 : 0);
  if (format === 'csv') return whole - 1;
  // '[', the records, ']'.
  return format === 'json' ? whole - 2 : whole;
}
