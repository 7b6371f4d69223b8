import { rmSync, statSync } from 'node:fs';
import { BIGINT, BLOB, BOOLEAN, DuckDBTableFunction, INTEGER, VARCHAR } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { FlipstreamError } from '../schemas/errors.ts';
import { type Column, duckType, jsonStructure } from './columns.ts';
import { type Duck, name, openDuck, text } from './duck.ts';
import type { Sheet } from './sheet.ts';
import { type Strip, settle } from './strip.ts';
import { syncFile } from './sync.ts';
import { CHUNK_ROWS, fill } from './vectors.ts';

/**
 * Fast enough for the sink; compaction packs harder later. Version 2 pages hold the lengths of strings apart
 * from their bytes, which helps zstd at no cost.
 */
const QUICK =
  'FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE 65536';

/** For files that are written once more and then read for ever. */
export const PACKED =
  'FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, COMPRESSION_LEVEL 9, ROW_GROUP_SIZE 122880';

/** A finished Parquet file. */
interface Written {
  /** Bytes. */
  size: number;
  rows: number;
}

/** Writes rows into Parquet files, one file at a time. */
export interface ParquetWriter {
  readonly duck: Duck;
  /**
   * Writes and syncs one file. Every column of the table is in it, so that any reader of one file sees the
   * whole table.
   * @param select SQL over the rows, which it finds as the relation `incoming`; default: all of them as they are.
   */
  write(path: string, columns: readonly Column[], sheet: Sheet, select?: string): Promise<Written>;
  /** The strings of the first column that a query over the rows (`incoming`) gives. */
  ask(columns: readonly Column[], sheet: Sheet, select: string): Promise<string[]>;
  /** Runs a COPY whose source are files, in turn with the writes. */
  copy(path: string, select: string, options: string): Promise<Written>;
  /**
   * Resolves when DuckDB has been given every row of the write that is under way, and goes on without this
   * thread. Whoever makes the next rows had better wait: DuckDB would wait for them, and then they for DuckDB.
   */
  handedOver(): Promise<void>;
  close(): void;
}

interface Load {
  rows: number;
  sent: number;
  done: PromiseWithResolvers<void>;
  columns: { column: Column; strip: Strip }[];
}

const CARRIER = {
  string: VARCHAR,
  list: VARCHAR,
  bytes: BLOB,
  long: BIGINT,
  int: INTEGER,
  boolean: BOOLEAN,
} as const;

const SOURCE = 'flipstream_rows';

/** @throws FlipstreamError `warehouse_write` (retryable) from `write` and `copy`; the unfinished file is gone. */
export async function openParquetWriter(
  options: { memoryMiB?: number; spill?: string } = {},
): Promise<ParquetWriter> {
  // One thread: with two, DuckDB and this process's own thread fight over the same cores, and both lose.
  const duck = await openDuck({ ...options, threads: 1 });
  let load = newLoad(0, []);
  let turn: Promise<unknown> = Promise.resolve();

  duck.connection.registerTableFunction(
    DuckDBTableFunction.create({
      name: SOURCE,
      bindFunction: (bind) => {
        for (const { column } of load.columns) bind.addResultColumn(column.name, CARRIER[column.type.kind]);
      },
      initFunction: (init) => init.setMaxThreads(1),
      mainFunction: (_info, chunk) => {
        const from = load.sent;
        const count = Math.min(CHUNK_ROWS, load.rows - from);
        load.sent += count;
        duckdb.data_chunk_set_size(chunk.chunk, count);
        if (count === 0) {
          load.done.resolve();
          return;
        }
        load.columns.forEach(({ strip }, column) => {
          fill(chunk, column, strip, from, count);
        });
      },
    }),
  );

  async function run(path: string, select: string, how: string): Promise<Written> {
    try {
      const result = await duck.connection.run(`COPY (${select}) TO ${text(path)} (${how})`);
      syncFile(path);
      return { size: statSync(path).size, rows: result.rowsChanged };
    } catch (cause) {
      rmSync(path, { force: true });
      throw new FlipstreamError('warehouse_write', 'retryable', `${path} could not be written`, cause);
    }
  }

  /** @param select undefined: the rows go straight through; else they may be read more than once. */
  async function withRows<T>(
    columns: readonly Column[],
    { rows, strips }: Sheet,
    select: string | undefined,
    use: (sql: string) => Promise<T>,
  ): Promise<T> {
    const used: Load['columns'] = [];
    const projection = columns.map((column, at) => {
      const strip = strips[at];
      if (strip === undefined || strip.count === 0) return nothing(column);
      settle(strip, rows);
      used.push({ column, strip });
      return projected(column);
    });
    load = newLoad(rows, used);
    try {
      // A table function must give at least one column.
      const source = used.length > 0 ? `${SOURCE}()` : `range(${rows})`;
      const incoming = `SELECT ${projection.join(', ')} FROM ${source}`;
      return await use(
        select === undefined ? incoming : `WITH incoming AS MATERIALIZED (${incoming}) ${select}`,
      );
    } finally {
      load.done.resolve();
      load = newLoad(0, []);
    }
  }

  function inTurn<T>(job: () => Promise<T>): Promise<T> {
    const mine = turn.then(job, job);
    turn = mine.catch(() => {});
    return mine;
  }

  return {
    duck,
    write: (path, columns, sheet, select) =>
      inTurn(() => withRows(columns, sheet, select, (sql) => run(path, sql, QUICK))),
    ask: (columns, sheet, select) =>
      inTurn(() =>
        withRows(columns, sheet, select, async (sql) => {
          const reader = await duck.connection.runAndReadAll(sql);
          return reader.getRowsJson().map(([first]) => String(first));
        }),
      ),
    handedOver: () => load.done.promise,
    copy: (path, select, how) => inTurn(() => run(path, select, how)),
    close: () => duck.close(),
  };
}

function newLoad(rows: number, columns: Load['columns']): Load {
  const done = Promise.withResolvers<void>();
  if (rows === 0) done.resolve();
  return { rows, sent: 0, done, columns };
}

/** A column of which no row has a value, so that nothing needs to cross. */
function nothing(column: Column): string {
  return `${emptyOf(column)} AS ${name(column.name)}`;
}

function projected(column: Column): string {
  const as = name(column.name);
  if (column.type.kind !== 'list') return as;
  const read = `from_json(${as}, ${text(jsonStructure(column))})::${duckType(column)}`;
  return `coalesce(${read}, ${emptyOf(column)}) AS ${as}`;
}

/** A list field has a default and is never null. */
function emptyOf(column: Column): string {
  return `${column.type.kind === 'list' ? '[]' : 'NULL'}::${duckType(column)}`;
}
