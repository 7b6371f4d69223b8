import { existsSync } from 'node:fs';
import type { Home } from '../producers/home.ts';
import { FlipstreamError } from '../schemas/errors.ts';
import { openReader } from '../warehouse/query.ts';
import type { Value } from '../warehouse/values.ts';
import type { Query } from './sql/result.ts';

/** A row by its columns' names. */
export type Row = Record<string, Value | undefined>;

export interface Warehouse {
  query: Query;
  /** Rows of the last statement as objects. */
  records(sql: string): Promise<Row[]>;
  /** The same of one SELECT, some thousand rows at a time. */
  chunks(sql: string): AsyncIterable<Row[]>;
}

/** The folder of the home's tables. @throws FlipstreamError `no_warehouse` (usage) when nothing has landed yet. */
export function requireWarehouse(home: Home): string {
  if (existsSync(home.warehouse)) return home.warehouse;
  throw new FlipstreamError(
    'no_warehouse',
    'usage',
    `There is no warehouse at ${home.warehouse}: run flipstream up first, or name another --home.`,
  );
}

/** Opens the home's warehouse for questions, for as long as the work takes. @throws as `requireWarehouse` */
export async function withWarehouse<T>(home: Home, work: (warehouse: Warehouse) => Promise<T>): Promise<T> {
  const reader = await openReader(requireWarehouse(home));
  const query: Query = async (sql) => {
    const { columns, rows } = await reader.query(sql);
    return { columns: columns.map((column) => column.name), rows };
  };
  try {
    return await work({
      query,
      async records(sql) {
        const { columns, rows } = await query(sql);
        return recordsOf(columns, rows);
      },
      async *chunks(sql) {
        const { columns, rows } = await reader.stream(sql);
        const names = columns.map(({ name }) => name);
        for await (const chunk of rows) yield recordsOf(names, chunk);
      },
    });
  } finally {
    reader.close();
  }
}

function recordsOf(columns: readonly string[], rows: readonly (readonly Value[])[]): Row[] {
  return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
}
