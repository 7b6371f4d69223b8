import type { Landed } from '../../warehouse/land.ts';
import type { TableName } from '../../warehouse/tables.ts';

export interface TableStats {
  /** Rows landed by this process. */
  rows: number;
  flushes: number;
  /** Rows that another sink had landed first. */
  dropped: number;
  conflicts: number;
  /** Newest Delta version this process knows. */
  version: number;
}

export interface SinkStats {
  tables: Readonly<Partial<Record<TableName, Readonly<TableStats>>>>;
  /** From published to landed, milliseconds, of the most recent rows. */
  delays: readonly number[];
}

const RECENT = 10_000;

export type Stats = ReturnType<typeof createSinkStats>;

export function createSinkStats() {
  const tables: Partial<Record<TableName, TableStats>> = {};
  let delays: number[] = [];
  const of = (name: TableName): TableStats => {
    const stats = tables[name] ?? { rows: 0, flushes: 0, dropped: 0, conflicts: 0, version: -1 };
    tables[name] = stats;
    return stats;
  };
  return {
    version(name: TableName, version: number): void {
      of(name).version = version;
    },
    landed(name: TableName, landed: Landed, took: readonly number[]): void {
      const stats = of(name);
      stats.rows += landed.rows;
      stats.dropped += landed.dropped;
      stats.conflicts += landed.conflicts;
      stats.version = landed.snapshot.version;
      stats.flushes++;
      delays = [...delays, ...took.slice(-RECENT)].slice(-RECENT);
    },
    read: (): SinkStats => ({ tables: structuredClone(tables), delays }),
  };
}
