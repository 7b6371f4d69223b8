import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Column } from './columns.ts';
import { readSnapshot } from './delta/snapshot.ts';
import { refuseNewer } from './delta/table.ts';
import type { Snapshot } from './delta/version.ts';
import { relation } from './relation.ts';
import { TABLE_NAMES, type TableName, tableColumns, tableDir } from './tables.ts';

/** The newest versions of all tables, as far as they were asked for. */
export interface Snapshots {
  /** Tables with another version than at the last call, and the SQL of their rows. */
  changed(): Promise<{ table: TableName; sql: string }[]>;
}

export function openSnapshots(warehouse: string): Snapshots {
  const known = new Map<TableName, { born: string; snapshot: Snapshot }>();
  return {
    async changed() {
      const changed: { table: TableName; sql: string }[] = [];
      for (const table of TABLE_NAMES) {
        const dir = tableDir(warehouse, table);
        const born = birthOf(dir);
        const same = known.get(table);
        const before = same?.born === born ? same.snapshot : undefined;
        const now = await readSnapshot(dir, before ? { from: before } : {});
        if (before && now.version === before.version) continue;
        known.set(table, { born, snapshot: now });
        changed.push({ table, sql: rowsOf(warehouse, table, now, tableColumns(table)) });
      }
      return changed;
    },
  };
}

/** Of the table's folder: one that was put in its place has versions of its own. */
function birthOf(dir: string): string {
  const found = statSync(dir, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.ino} ${found.birthtimeNs}` : '';
}

/** For what takes records out of the archive whole. @throws FlipstreamError `table_newer` (fatal) */
export async function refuseNewerTables(warehouse: string): Promise<void> {
  for (const table of TABLE_NAMES) {
    const dir = tableDir(warehouse, table);
    refuseNewer(dir, await readSnapshot(dir), tableColumns(table));
  }
}

function rowsOf(warehouse: string, table: TableName, snapshot: Snapshot, columns: readonly Column[]): string {
  const dir = tableDir(warehouse, table);
  return relation(
    columns,
    [...snapshot.files.keys()].map((path) => join(dir, path)),
  );
}
