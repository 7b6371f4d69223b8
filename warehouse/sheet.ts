import type { Column } from './columns.ts';
import { clear, copyValue, newStrip, putNumber, putText, type Strip, valueAt } from './strip.ts';

/** Rows of a table as columns, in the order of the table's own. A list is the text of its JSON, an empty one null. */
export interface Sheet {
  rows: number;
  readonly strips: readonly Strip[];
}

const WIDTH = { string: 0, bytes: 0, list: 0, boolean: 1, int: 4, long: 8 } as const;

export function newSheet(columns: readonly Column[]): Sheet {
  return { rows: 0, strips: columns.map(({ type }) => newStrip(WIDTH[type.kind])) };
}

/** Takes every row out and keeps the room: memory that is used again costs nothing to get. */
export function clearSheet(sheet: Sheet): void {
  for (const strip of sheet.strips) clear(strip);
  sheet.rows = 0;
}

/** The strip of column `at`. */
export function stripOf(sheet: Sheet, at: number): Strip {
  const strip = sheet.strips[at];
  if (strip === undefined) throw new TypeError(`no column ${at}`);
  return strip;
}

/** These rows alone, in this order. */
export function pick(sheet: Sheet, rows: readonly number[]): Sheet {
  const strips = sheet.strips.map((from) => {
    const to = newStrip(from.width);
    rows.forEach((at, row) => {
      copyValue(to, row, from, at);
    });
    return to;
  });
  return { rows: rows.length, strips };
}

/** What tells a row from others that have the same values in these columns. */
export function keyAt(sheet: Sheet, columns: readonly number[], row: number): string {
  return JSON.stringify(columns.map((at) => valueAt(stripOf(sheet, at), row)));
}

/** A sheet of rows that are arrays of values in the order of the columns; for few rows. */
export function sheetOf(columns: readonly Column[], rows: readonly (readonly unknown[])[]): Sheet {
  const sheet = newSheet(columns);
  for (const values of rows) {
    sheet.strips.forEach((strip, at) => {
      putValue(strip, sheet.rows, values[at]);
    });
    sheet.rows++;
  }
  return sheet;
}

/** Gives a row any value that its column can hold. Rows go up, each once. */
export function putValue(strip: Strip, row: number, value: unknown): void {
  if (value === null || value === undefined) return;
  if (strip.width > 0) putNumber(strip, row, Number(value));
  else if (!Array.isArray(value)) putBuffer(strip, row, bytesOf(value));
  else if (value.length > 0) putBuffer(strip, row, Buffer.from(JSON.stringify(value)));
}

function putBuffer(strip: Strip, row: number, text: Buffer): void {
  putText(strip, row, text, 0, text.length);
}

function bytesOf(value: unknown): Buffer {
  return value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(String(value));
}
