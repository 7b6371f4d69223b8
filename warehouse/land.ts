import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { FlipstreamError } from '../schemas/errors.ts';
import type { Clock } from '../schemas/time.ts';
import { blame } from './damage.ts';
import { type Add, type Remove, rowsOf } from './delta/actions.ts';
import { hasVersion } from './delta/files.ts';
import { addOf, newFileName, type Table } from './delta/table.ts';
import type { Snapshot } from './delta/version.ts';
import { list, name } from './duck.ts';
import type { ParquetWriter } from './parquet.ts';
import { relation } from './relation.ts';
import { keyAt, pick, type Sheet, stripOf } from './sheet.ts';
import { numberAt } from './strip.ts';
import { specOf, type TableName } from './tables.ts';

/** Rows of one table that wait to land, from one log; none, where only how far it was read has to. */
export interface Cargo {
  /** In order of offset within each partition; the last columns are those of PROVENANCE. */
  sheet: Sheet;
  /** Application id (`<log id>/<topic>/<partition>`) of each row's partition. */
  appId: (partition: number) => string;
  /** By partition: the offset to go on from once these rows have landed. */
  next: ReadonlyMap<number, number>;
}

export interface Landed {
  snapshot: Snapshot;
  rows: number;
  /** Rows that another sink had landed before. */
  dropped: number;
  conflicts: number;
}

/** From this many rows on, what is left of a rewritten file gets a file of its own, so that it rests from then on. */
const RESTING_ROWS = 20_000;
const MOST_CONFLICTS = 100;

const PARTITION_FROM_END = 3;
const OFFSET_FROM_END = 2;

/**
 * Lands rows in one version of their table, together with how far the log was read: a crash at any point
 * leaves both or neither. When another writer commits first, what it has landed is dropped here and the rest
 * tried again, so no range is published twice.
 * @throws FlipstreamError `warehouse_write`, `delta_commit_failed`, `warehouse_contended` (retryable);
 *   `delta_*` (fatal)
 */
export async function land(
  to: { table: Table; name: TableName; writer: ParquetWriter; clock: Clock },
  cargo: Cargo,
): Promise<Landed> {
  let made: Made | null = null;
  for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
    const snapshot = await to.table.refresh();
    const sheet = stillMissing(cargo, snapshot);
    const dropped = cargo.sheet.rows - sheet.rows;
    const now = to.clock();
    const txns = [...cargo.next]
      .map(([partition, version]) => ({ appId: cargo.appId(partition), version, lastUpdated: now }))
      .filter(({ appId, version }) => version > (snapshot.txns.get(appId) ?? 0));
    if (txns.length === 0) {
      discard(to.table, made);
      return { snapshot, rows: 0, dropped, conflicts };
    }
    if (made === null || made.input !== sheet.rows || (made.readFiles && made.base !== snapshot.version)) {
      discard(to.table, made);
      made = await make(to, snapshot, sheet);
    }
    const operation = specOf(to.name).mode === 'upsert' ? 'MERGE' : 'WRITE';
    const { adds, removes } = made;
    const after = await to.table.commit(snapshot, { operation, adds, removes, txns }).catch((error) => {
      // Tried again, it would be written again: nothing may stay but what has been committed after all.
      if (!hasVersion(to.table.dir, snapshot.version + 1)) discard(to.table, made);
      throw error;
    });
    if (after) return { snapshot: after, rows: sheet.rows, dropped, conflicts };
  }
  discard(to.table, made);
  throw new FlipstreamError(
    'warehouse_contended',
    'retryable',
    `${to.table.dir}: other writers were first ${MOST_CONFLICTS} times in a row`,
  );
}

/** Rows at or above what the table says has landed. */
function stillMissing({ sheet, appId }: Cargo, snapshot: Snapshot): Sheet {
  const landed = new Map<number, number>();
  const from = (partition: number) => {
    const known = landed.get(partition) ?? snapshot.txns.get(appId(partition)) ?? 0;
    landed.set(partition, known);
    return known;
  };
  const partitions = stripOf(sheet, sheet.strips.length - PARTITION_FROM_END);
  const offsets = stripOf(sheet, sheet.strips.length - OFFSET_FROM_END);
  const missing: number[] = [];
  for (let row = 0; row < sheet.rows; row++) {
    if (numberAt(offsets, row) >= from(numberAt(partitions, row))) missing.push(row);
  }
  return missing.length === sheet.rows ? sheet : pick(sheet, missing);
}

interface Made {
  input: number;
  base: number;
  /** The files depend on what the version held, and must be made again on top of another. */
  readFiles: boolean;
  adds: Add[];
  removes: Remove[];
}

interface Target {
  table: Table;
  name: TableName;
  writer: ParquetWriter;
  clock: Clock;
}

async function make(to: Target, snapshot: Snapshot, sheet: Sheet): Promise<Made> {
  const { mode } = specOf(to.name);
  const made: Made = {
    input: sheet.rows,
    base: snapshot.version,
    readFiles: mode !== 'append',
    adds: [],
    removes: [],
  };
  try {
    if (sheet.rows > 0) await fill(to, made, snapshot, sheet);
    return made;
  } catch (cause) {
    discard(to.table, made);
    const held = made.readFiles ? [{ dir: to.table.dir, files: snapshot.files.values() }] : [];
    throw (await blame(cause, held, to.writer.duck.connection)) ?? cause;
  }
}

async function fill(to: Target, made: Made, snapshot: Snapshot, sheet: Sheet): Promise<void> {
  const { mode } = specOf(to.name);
  if (mode === 'append') {
    await writeTo(to, made, sheet);
  } else if (mode === 'once') {
    const held = files(to.table, snapshot.files.keys());
    await writeTo(
      to,
      made,
      distinct(to, sheet, 'first'),
      `SELECT * FROM incoming ANTI JOIN (${relation(to.table.columns, held)}) held USING (${keyList(to)})`,
    );
  } else {
    await rewrite(to, made, snapshot, distinct(to, sheet, 'last'));
  }
}

/** Copy on write: files that hold a key of the new rows are written again without it. */
async function rewrite(to: Target, made: Made, snapshot: Snapshot, sheet: Sheet): Promise<void> {
  const { columns, dir } = to.table;
  const { keep } = specOf(to.name);
  const touched = await filesHolding(to, snapshot, sheet);
  const small = touched.filter((add) => (rowsOf(add) ?? 0) < RESTING_ROWS);
  const rest = (adds: readonly Add[]) =>
    `SELECT * FROM (${relation(
      columns,
      files(
        to.table,
        adds.map(({ path }) => path),
      ),
    )}) held ANTI JOIN incoming USING (${keyList(to)})`;
  const kept = `SELECT * FROM incoming WHERE ${keep ?? 'true'}`;
  const straight = keep === undefined && small.length === 0;
  const select = small.length === 0 ? kept : `${kept} UNION ALL (${rest(small)})`;
  await writeTo(to, made, sheet, straight ? undefined : select);
  for (const add of touched.filter((candidate) => !small.includes(candidate))) {
    await writeTo(to, made, sheet, rest([add]));
  }
  const now = to.clock();
  made.removes = touched.map(({ path }) => ({ path, deletionTimestamp: now, dataChange: true }));
  // A removal without its addition would lose rows: nothing above may have left a touched file out.
  if (made.adds.length === 0 && keep === undefined)
    throw new FlipstreamError('warehouse_write', 'retryable', `${dir}: nothing was written`);
}

async function filesHolding(to: Target, snapshot: Snapshot, sheet: Sheet): Promise<Add[]> {
  if (snapshot.files.size === 0) return [];
  const at = keyColumns(to);
  const found = await to.writer.ask(
    to.table.columns.filter((_, index) => at.includes(index)),
    { rows: sheet.rows, strips: sheet.strips.filter((_, index) => at.includes(index)) },
    `SELECT DISTINCT parse_filename(filename) FROM read_parquet(${list(files(to.table, snapshot.files.keys()))}, filename = true, hive_partitioning = false)
     SEMI JOIN incoming USING (${keyList(to)})`,
  );
  return found.map((path) => snapshot.files.get(path)).filter((add) => add !== undefined);
}

/** One row a key. */
function distinct(to: Target, sheet: Sheet, keep: 'first' | 'last'): Sheet {
  const at = keyColumns(to);
  const byKey = new Map<string, number>();
  for (let row = 0; row < sheet.rows; row++) {
    const key = keyAt(sheet, at, row);
    if (keep === 'last' || !byKey.has(key)) byKey.set(key, row);
  }
  return byKey.size === sheet.rows ? sheet : pick(sheet, [...byKey.values()]);
}

/** Where the key's columns are. */
function keyColumns({ table, name: tableName }: Target): number[] {
  return specOf(tableName).key.map((key) => table.columns.findIndex((column) => column.name === key));
}

async function writeTo(to: Target, made: Made, sheet: Sheet, select?: string): Promise<void> {
  const path = newFileName();
  const written = await to.writer.write(join(to.table.dir, path), to.table.columns, sheet, select);
  if (written.rows === 0) rmSync(join(to.table.dir, path), { force: true });
  else made.adds.push(addOf(path, written, to.clock()));
}

function discard(table: Table, made: Made | null): void {
  for (const { path } of made?.adds ?? []) rmSync(join(table.dir, path), { force: true });
}

function keyList({ name: tableName }: Target): string {
  return specOf(tableName).key.map(name).join(', ');
}

function files(table: Table, paths: Iterable<string>): string[] {
  return [...paths].map((path) => join(table.dir, path));
}
