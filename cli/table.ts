/** Rows as text: an aligned table for people, CSV (RFC 4180) for programs. */
import { stringify } from './output.ts';

export type Row = Record<string, unknown>;

const WIDEST_CELL = 80;

/** An aligned table with a header; long cells are cut, line breaks shown as a space. */
export function table(columns: readonly string[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((name) => short(cell(row[name]))));
  const widths = columns.map((name, i) =>
    Math.max(name.length, ...cells.map((line) => line[i]?.length ?? 0)),
  );
  const numeric = columns.map((name) => rows.every((row) => isNumber(row[name])) && rows.length > 0);
  const draw = (line: readonly string[]) =>
    line
      .map((text, i) => (numeric[i] ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return [draw(columns), draw(widths.map((width) => '-'.repeat(width))), ...cells.map(draw)].join('\n');
}

/** CSV with a header and CRLF line ends. NULL is an empty field, an empty string is quoted, so that the two differ. */
export function csv(columns: readonly string[], rows: readonly Row[]): string {
  return [csvLine(columns), ...rows.map((row) => csvLine(columns.map((name) => row[name])))].join('');
}

/** One line of CSV, with its line end. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvField).join(',')}\r\n`;
}

function csvField(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = cell(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'object') return stringify(value);
  return String(value);
}

function short(text: string): string {
  const line = text.replaceAll(/[\r\n\t]+/g, ' ').replaceAll(/[\p{Cc}]/gu, '\u00b7');
  return line.length > WIDEST_CELL ? `${line.slice(0, WIDEST_CELL - 1)}\u2026` : line;
}

function isNumber(value: unknown): boolean {
  return value === null || typeof value === 'number' || typeof value === 'bigint';
}
