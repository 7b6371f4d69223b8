/** Rows of a query, and how they are printed. */
import { csvField } from '../../jobs/export.ts';
import type { Value } from '../../warehouse/values.ts';
import { counted } from '../counted.ts';
import { stringify } from '../output.ts';
import { cellTable } from '../table.ts';

export interface QueryResult {
  columns: string[];
  rows: readonly (readonly Value[])[];
}

export type Query = (sql: string) => Promise<QueryResult>;

export const FORMATS = ['table', 'json', 'jsonl', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** The rows as text that ends with a line end, in the very form that `--out` writes (jobs/export.ts). */
export function format({ columns, rows }: QueryResult, as: Format): string {
  if (as === 'csv') return [columns, ...rows].map((row) => `${row.map(csvField).join(',')}\n`).join('');
  const records = () =>
    rows.map((row) => stringify(Object.fromEntries(columns.map((name, i) => [name, row[i]]))));
  if (as === 'jsonl')
    return records()
      .map((record) => `${record}\n`)
      .join('');
  if (as === 'json')
    return `[${records()
      .map((record) => `\n${record}`)
      .join(',')}\n]\n`;
  return columns.length === 0 ? 'Done.\n' : `${cellTable(columns, rows)}\n(${counted(rows.length, 'row')})\n`;
}
