import type { DuckDBConnection } from '@duckdb/node-api';
import { type FlipstreamError, messageOf } from '../schemas/errors.ts';
import { blame } from './damage.ts';
import type { Snapshot } from './delta/version.ts';
import { name, text } from './duck.ts';
import { relation } from './relation.ts';
import { type Found, openSnapshots } from './snapshots.ts';
import { type TableName, tableColumns, tableDir } from './tables.ts';
import { VIEWS } from './views.sql.ts';

/** The warehouse as DuckDB sees it: a view of each table's newest version, and the readable views over them. */
export interface Catalog {
  /** Shows what has landed since. */
  renew(): Promise<void>;
  /** The table that a statement failed at, if it was one that cannot be read; else null. */
  blame(cause: unknown): Promise<FlipstreamError | null>;
}

/**
 * A table that cannot be read is there by name, and fails every statement that asks for it and no other.
 * @throws what DuckDB throws, when no table is to blame
 */
export async function openCatalog(connection: DuckDBConnection, warehouse: string): Promise<Catalog> {
  const snapshots = openSnapshots(warehouse);
  const unreadable = new Map<TableName, FlipstreamError>();
  const filesOf = (table: TableName, { files }: Snapshot) => ({
    dir: tableDir(warehouse, table),
    files: files.values(),
  });

  async function show(found: Found): Promise<boolean> {
    const { table } = found;
    unreadable.delete(table);
    if ('failure' in found) return hide(table, found.failure);
    const { dir, files } = filesOf(table, found.snapshot);
    const paths = Array.from(files, ({ path }) => `${dir}/${path}`);
    try {
      await connection.run(
        `CREATE OR REPLACE VIEW ${name(table)} AS ${relation(tableColumns(table), paths)}`,
      );
      return true;
    } catch (cause) {
      const failure = await blame(cause, [filesOf(table, found.snapshot)], connection);
      if (failure === null) throw cause;
      return hide(table, failure);
    }
  }

  /** Lets the view stand on a table that is dropped before anybody asks: whatever asks then fails as it is bound. */
  async function hide(table: TableName, failure: FlipstreamError): Promise<false> {
    unreadable.set(table, failure);
    const base = name(baseOf(table));
    await connection.run(`CREATE OR REPLACE TABLE ${base} AS ${relation(tableColumns(table), [])}`);
    await connection.run(`CREATE OR REPLACE VIEW ${name(table)} AS FROM ${base}`);
    return false;
  }

  async function dropBases(): Promise<void> {
    for (const table of unreadable.keys())
      await connection.run(`DROP TABLE IF EXISTS ${name(baseOf(table))}`);
  }

  await snapshots.renew(show);
  for (const view of VIEWS) {
    await connection.run(`CREATE VIEW ${name(view.name)} AS ${view.sql}`);
    await connection.run(`COMMENT ON VIEW ${name(view.name)} IS ${text(view.about)}`);
  }
  await dropBases();

  return {
    async renew() {
      await snapshots.renew(show);
      await dropBases();
    },
    async blame(cause) {
      for (const [table, failure] of unreadable) if (messageOf(cause).includes(baseOf(table))) return failure;
      const shown = Array.from(snapshots.known(), ([table, snapshot]) => filesOf(table, snapshot));
      return blame(cause, shown, connection);
    },
  };
}

function baseOf(table: TableName): string {
  return `unreadable_${table}`;
}
