/** Rows as text for people. */
import { stringify } from './output.ts';

type Cells = readonly unknown[];

const WIDEST_CELL = 80;

/** An aligned table of records, with these of their fields. */
export function table(columns: readonly string[], records: readonly object[]): string {
  const rows = records.map((record) => {
    const fields = new Map<string, unknown>(Object.entries(record));
    return columns.map((column) => fields.get(column));
  });
  return cellTable(columns, rows);
}

/** An aligned table with a header; long cells are cut, line breaks shown as a space. */
export function cellTable(columns: readonly string[], rows: readonly Cells[]): string {
  const cells = rows.map((row) => columns.map((_, i) => short(cell(row[i]))));
  const widths = columns.map((name, i) =>
    cells.reduce((most, line) => Math.max(most, line[i]?.length ?? 0), name.length),
  );
  const numeric = columns.map((_, i) => rows.length > 0 && rows.every((row) => isNumber(row[i])));
  const draw = (line: readonly string[]) =>
    line
      .map((text, i) => (numeric[i] ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return [draw(columns), draw(widths.map((width) => '-'.repeat(width))), ...cells.map(draw)].join('\n');
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
  return value === null || value === undefined || typeof value === 'number' || typeof value === 'bigint';
}
