/** Rows of a query, and how they are printed. */
import { stringify } from '../output.ts';
import { type Cells, cellTable, csvLine } from '../table.ts';

export interface QueryResult {
  columns: string[];
  rows: readonly Cells[];
}

export type Query = (sql: string) => Promise<QueryResult>;

export const FORMATS = ['table', 'json', 'csv'] as const;
export type Format = (typeof FORMATS)[number];
/** Formats that a program reads. */
export type FileFormat = Exclude<Format, 'table'>;

/** The rows as text that ends with a line end. JSON is an array with one object a line. */
export function format(result: QueryResult, as: Format): string {
  const { columns, rows } = result;
  if (as !== 'table')
    return opening(columns, as) + rows.map((row, i) => line(columns, row, i, as)).join('') + closing(as);
  const count = rows.length === 1 ? '1 row' : `${rows.length} rows`;
  return columns.length === 0 ? 'Done.\n' : `${cellTable(columns, rows)}\n(${count})\n`;
}

export function opening(columns: readonly string[], as: FileFormat): string {
  return as === 'csv' ? csvLine(columns) : '[';
}

/** @param index of the row in the whole result. */
export function line(columns: readonly string[], row: Cells, index: number, as: FileFormat): string {
  if (as === 'csv') return csvLine(row);
  const record = Object.fromEntries(columns.map((column, i) => [column, row[i]]));
  return `${index === 0 ? '' : ','}\n${stringify(record)}`;
}

export function closing(as: FileFormat): string {
  return as === 'csv' ? '' : '\n]\n';
}
