import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { FlipstreamError } from '../schemas/errors.ts';
import type { Clock } from '../schemas/time.ts';
import { blame } from './damage.ts';
import { type Add, rowsOf } from './delta/actions.ts';
import { hasVersion } from './delta/files.ts';
import { addOf, newFileName, openTable, type Table } from './delta/table.ts';
import { type Vacuumed, vacuum } from './delta/vacuum.ts';
import { name as identifier } from './duck.ts';
import { lockCompaction } from './one-compaction.ts';
import { openParquetWriter, PACKED, type ParquetWriter } from './parquet.ts';
import { relation } from './relation.ts';
import { specOf, TABLE_NAMES, type TableName, tableColumns, tableDir } from './tables.ts';

export interface CompactOptions {
  warehouse: string;
  clock: Clock;
  /** Files below the target from which merging is worth a rewrite. */
  from?: number;
  /** Rows that one merged file takes; a session's rows then mostly lie in one file. */
  rowsPerFile?: number;
  /** Bytes (compressed) that one merged file is made from. */
  bytesPerFile?: number;
  memoryMiB?: number;
  /** Stops it after the merge that is under way; what is merged by then stays so. */
  signal?: AbortSignal;
}

export interface Compacted {
  table: TableName;
  /** Files before and after. */
  merged: number;
  made: number;
  vacuumed: Vacuumed;
}

/**
 * Merges small files and packs them harder: sorted by what is read together, at a high zstd level. Nobody's
 * answer changes, since the rows are the same (`dataChange: false`), and removed files stay for a day.
 * Safe beside the sink: when the sink rewrote a file meanwhile, that merge is dropped. A table that fails keeps no
 * other from its turn; the first failure is thrown at the end.
 * @returns nothing while another compaction has the warehouse: it is at the same files.
 * @throws FlipstreamError `warehouse_write`, `delta_commit_failed` (retryable), `lock_unusable` (usage), `delta_*`
 *   (fatal), among them `delta_miscounted`
 */
export async function compact(options: CompactOptions): Promise<Compacted[]> {
  const unlock = lockCompaction(options.warehouse);
  if (unlock === null) return [];
  const spill = join(options.warehouse, '.spill');
  const sweep = () => rmSync(spill, { recursive: true, force: true });
  try {
    // What one that was killed has left.
    sweep();
    return await compactAll(options, spill);
  } finally {
    sweep();
    unlock();
  }
}

async function compactAll(options: CompactOptions, spill: string): Promise<Compacted[]> {
  const { warehouse, clock, memoryMiB = 1024, signal } = options;
  const writer = await openParquetWriter({ memoryMiB, spill });
  const report: Compacted[] = [];
  const failures: unknown[] = [];
  for (const name of TABLE_NAMES) {
    if (signal?.aborted) break;
    try {
      const table = await openTable(tableDir(warehouse, name), tableColumns(name), clock);
      const { merged, made } = await compactTable(table, name, writer, options);
      report.push({ table: name, merged, made, vacuumed: await vacuum(table.dir, clock()) });
    } catch (error) {
      failures.push(error);
    }
  }
  writer.close();
  if (failures.length > 0) throw failures[0];
  return report;
}

async function compactTable(
  table: Table,
  tableName: TableName,
  writer: ParquetWriter,
  options: CompactOptions,
) {
  let merged = 0;
  let made = 0;
  for (const sources of groups((await table.refresh()).files.values(), options)) {
    if (options.signal?.aborted) break;
    if (!(await merge(table, tableName, writer, sources, options.clock))) continue;
    merged += sources.length;
    made++;
  }
  return { merged, made };
}

/** Small files in the order they came, as many together as one merged file takes. */
function groups(files: Iterable<Add>, options: CompactOptions): Add[][] {
  const { from = 8, rowsPerFile = 200_000, bytesPerFile = 128 * 2 ** 20 } = options;
  // A file whose rows another program did not count stays as it is: a merge of it could not be checked.
  const small = [...files].filter(
    (add) => (rowsOf(add) ?? rowsPerFile) < rowsPerFile / 2 && add.size < bytesPerFile / 2,
  );
  if (small.length < Math.max(2, from)) return [];
  const all: Add[][] = [];
  let group: Add[] = [];
  let rows = 0;
  let bytes = 0;
  for (const add of small) {
    const count = rowsOf(add) ?? 0;
    if (group.length > 0 && (rows + count > rowsPerFile || bytes + add.size > bytesPerFile)) {
      all.push(group);
      group = [];
      rows = 0;
      bytes = 0;
    }
    group.push(add);
    rows += count;
    bytes += add.size;
  }
  all.push(group);
  return all.filter((candidate) => candidate.length > 1);
}

async function merge(
  table: Table,
  tableName: TableName,
  writer: ParquetWriter,
  sources: readonly Add[],
  clock: Clock,
): Promise<boolean> {
  const path = newFileName();
  const full = join(table.dir, path);
  const from = relation(
    table.columns,
    sources.map((add) => join(table.dir, add.path)),
  );
  const order = specOf(tableName).order.map(identifier).join(', ');
  const written = await writer.copy(full, `${from} ORDER BY ${order}`, PACKED).catch(async (cause) => {
    throw (await blame(cause, [{ dir: table.dir, files: sources }], writer.duck.connection)) ?? cause;
  });
  const expected = sources.reduce((sum, add) => sum + (rowsOf(add) ?? 0), 0);
  let next = 0;
  try {
    // A merged file that lost or gained a row must never be committed, whatever made it so.
    if (written.rows !== expected) throw miscounted(table.dir, sources.length, expected, written.rows);
    const adds = [addOf(path, written, clock(), false)];
    const removes = sources.map((source) => ({
      path: source.path,
      deletionTimestamp: clock(),
      dataChange: false,
    }));
    for (;;) {
      const now = await table.refresh();
      next = now.version + 1;
      if (sources.some((source) => !now.files.has(source.path))) break;
      if (await table.commit(now, { operation: 'OPTIMIZE', adds, removes })) return true;
    }
  } catch (error) {
    // Nothing may stay but what has been committed after all.
    if (next === 0 || !hasVersion(table.dir, next)) rmSync(full, { force: true });
    throw error;
  }
  rmSync(full, { force: true });
  return false;
}

function miscounted(dir: string, files: number, expected: number, found: number): FlipstreamError {
  const message = `${dir}: ${files} files say that they hold ${expected} rows, and ${found} were read; they stay unmerged. Another program changed a file or the log of the table: flipstream replay makes a warehouse anew`;
  return new FlipstreamError('delta_miscounted', 'fatal', message);
}
