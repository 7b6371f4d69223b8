import { statSync } from 'node:fs';
import { FlipstreamError } from '../schemas/errors.ts';
import { logDir } from './delta/files.ts';
import { readSnapshot } from './delta/snapshot.ts';
import { refuseNewer } from './delta/table.ts';
import type { Snapshot } from './delta/version.ts';
import { TABLE_NAMES, type TableName, tableColumns, tableDir } from './tables.ts';

/** A table at another version than it was known at, or why its log cannot be read. */
export type Found = { table: TableName } & ({ snapshot: Snapshot } | { failure: FlipstreamError });

/** The newest versions of all tables, as far as they were asked for. */
export interface Snapshots {
  /**
   * Shows every table that is at another version than it is known at, one after the other.
   * @param take says whether it is known from then on; else it is shown again at the next call.
   */
  renew(take: (found: Found) => Promise<boolean>): Promise<void>;
  /** The versions that are known. */
  known(): Iterable<[TableName, Snapshot]>;
}

export function openSnapshots(warehouse: string): Snapshots {
  const known = new Map<TableName, { born: string; snapshot: Snapshot }>();
  return {
    async renew(take) {
      for (const table of TABLE_NAMES) {
        const dir = tableDir(warehouse, table);
        const born = birthOf(dir);
        const same = known.get(table);
        const before = same?.born === born ? same.snapshot : undefined;
        const found = await find(table, dir, before);
        if ('snapshot' in found && found.snapshot.version === before?.version) continue;
        known.delete(table);
        if ((await take(found)) && 'snapshot' in found) known.set(table, { born, snapshot: found.snapshot });
      }
    },
    *known() {
      for (const [table, { snapshot }] of known) yield [table, snapshot];
    },
  };
}

/** One table that cannot be read keeps nobody from the others. */
async function find(table: TableName, dir: string, from: Snapshot | undefined): Promise<Found> {
  try {
    return { table, snapshot: await readSnapshot(dir, from ? { from } : {}) };
  } catch (failure) {
    if (failure instanceof FlipstreamError) return { table, failure };
    throw failure;
  }
}

/** Of the table's log: one that was put in its place has versions of its own, and one that is gone has none. */
function birthOf(dir: string): string {
  const found = statSync(logDir(dir), { bigint: true, throwIfNoEntry: false });
  return found ? `${found.ino} ${found.birthtimeNs}` : '';
}

/** What the streams make of the other tables is made anew, and need not be read for that. */
const DERIVED: ReadonlySet<TableName> = new Set(['sessions', 'flips', 'flip_metrics']);

/** For what takes records out of the archive whole. @throws FlipstreamError `table_newer`, `delta_*` (fatal) */
export async function refuseNewerTables(warehouse: string): Promise<void> {
  for (const table of TABLE_NAMES) {
    if (DERIVED.has(table)) continue;
    const dir = tableDir(warehouse, table);
    refuseNewer(dir, await readSnapshot(dir), tableColumns(table));
  }
}
