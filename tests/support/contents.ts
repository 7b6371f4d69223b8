import { query } from '../../warehouse/query.ts';
import { TABLE_NAMES, type TableName, tableColumns } from '../../warehouse/tables.ts';

/** By table every row, without the columns that begin with `_`, which say where it lay in the log. */
export async function contents(warehouse: string): Promise<ReadonlyMap<TableName, unknown[]>> {
  const all = new Map<TableName, unknown[]>();
  for (const table of TABLE_NAMES) {
    const names = tableColumns(table).flatMap(({ name }) => (name.startsWith('_') ? [] : [`"${name}"`]));
    all.set(table, (await query(warehouse, `SELECT ${names.join(', ')} FROM ${table} ORDER BY ALL`)).rows);
  }
  return all;
}
