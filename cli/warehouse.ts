import { existsSync } from 'node:fs';
import type { Home } from '../producers/home.ts';
import { FlipstreamError } from '../schemas/errors.ts';
import { openReader } from '../warehouse/query.ts';
import type { RowStream } from './sql/export.ts';
import type { Query } from './sql/result.ts';

export interface Warehouse {
  query: Query;
  /** Rows of one statement as objects. */
  records(sql: string): Promise<Record<string, unknown>[]>;
  /** Rows of one statement a chunk at a time, counted before the first. */
  stream(sql: string): Promise<RowStream>;
}

/**
 * Opens the home's warehouse for questions, for as long as the work takes.
 * @throws FlipstreamError `no_warehouse` (usage) when nothing has landed yet.
 */
export async function withWarehouse<T>(home: Home, work: (warehouse: Warehouse) => Promise<T>): Promise<T> {
  if (!existsSync(home.warehouse))
    throw new FlipstreamError(
      'no_warehouse',
      'usage',
      `There is no warehouse at ${home.warehouse}: run flipstream up first, or name another --home.`,
    );
  const reader = await openReader(home.warehouse);
  const query: Query = async (sql) => {
    const { columns, rows } = await reader.query(sql);
    return { columns: columns.map((column) => column.name), rows };
  };
  try {
    return await work({
      query,
      async stream(sql) {
        const { columns, total, rows } = await reader.stream(sql);
        return { columns: columns.map((column) => column.name), total, rows };
      },
      async records(sql) {
        const { columns, rows } = await query(sql);
        return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
      },
    });
  } finally {
    reader.close();
  }
}
