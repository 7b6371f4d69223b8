import { type Column, duckType } from './columns.ts';
import { list, name } from './duck.ts';

/**
 * SQL of a relation with exactly these columns over Parquet files: none of them, or files that older
 * releases wrote without some of the columns, or newer ones with more.
 * @param files full paths.
 */
export function relation(columns: readonly Column[], files: readonly string[]): string {
  const typed = columns.map((column) => `NULL::${duckType(column)} AS ${name(column.name)}`).join(', ');
  const empty = `SELECT ${typed} WHERE false`;
  if (files.length === 0) return empty;
  const names = columns.map((column) => name(column.name)).join(', ');
  // Else DuckDB takes a folder named "model=x" above the warehouse for a column of every table.
  const stored = `SELECT * FROM read_parquet(${list(files)}, union_by_name = true, hive_partitioning = false)`;
  return `SELECT ${names} FROM (${empty} UNION ALL BY NAME ${stored})`;
}
