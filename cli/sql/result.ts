/** Rows of a query, and how they are printed. */
import { stringify } from '../output.ts';
import { csv, csvLine, type Row, table } from '../table.ts';

export interface QueryResult {
  columns: string[];
  rows: Row[];
}

export type Query = (sql: string) => Promise<QueryResult>;

export const FORMATS = ['table', 'json', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** The rows as text that ends with a line end. JSON is an array with one row a line. */
export function format(result: QueryResult, as: Format): string {
  const { columns, rows } = result;
  if (as === 'csv') return csv(columns, rows);
  if (as === 'json') return `[${rows.map((row) => `\n${stringify(row)}`).join(',')}\n]\n`;
  const count = rows.length === 1 ? '1 row' : `${rows.length} rows`;
  return columns.length === 0 ? 'Done.\n' : `${table(columns, rows)}\n(${count})\n`;
}

/** Pieces of the same text, a row at a time, so that a large export is never one string. */
export function* pieces({ columns, rows }: QueryResult, as: Exclude<Format, 'table'>): Generator<string> {
  if (as === 'csv') {
    yield csvLine(columns);
    for (const row of rows) yield csvLine(columns.map((name) => row[name]));
    return;
  }
  yield '[';
  for (const [i, row] of rows.entries()) yield `${i === 0 ? '' : ','}\n${stringify(row)}`;
  yield '\n]\n';
}
