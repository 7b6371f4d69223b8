import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, StatementType } from '@duckdb/node-api';
import { FlipstreamError, messageOf } from '../schemas/errors.ts';
import { type Catalog, openCatalog } from './catalog.ts';
import { type Duck, openDuck } from './duck.ts';
import { plainValue, type Value } from './values.ts';

export interface Answer {
  columns: { name: string; type: string }[];
  rows: Value[][];
}

/** Reads a warehouse; any number of processes may, while the sink writes. */
export interface Reader {
  /**
   * Runs SQL over the newest version of every table and answers with the last statement's rows.
   * @throws FlipstreamError `sql` (usage) with DuckDB's own message; `sql_read_only` (usage); `delta_*` (fatal) when
   *   a table that is asked for cannot be read
   */
  query(sql: string): Promise<Answer>;
  /** As `query`, a chunk of rows at a time. The rows are counted before the first is handed out. */
  stream(sql: string): Promise<{ columns: Answer['columns']; total: number; rows: AsyncIterable<Value[][]> }>;
  close(): void;
}

export interface ReaderOptions {
  memoryMiB?: number;
  threads?: number;
  /** Other folders that queries may read. */
  alsoRead?: readonly string[];
}

const ALLOWED: ReadonlySet<StatementType> = new Set([
  StatementType.SELECT,
  StatementType.EXPLAIN,
  StatementType.CREATE,
  StatementType.DROP,
]);

/**
 * A table that cannot be read fails what asks for it, and nothing else.
 * @param warehouse directory of the tables; without one, every table is empty.
 */
export async function openReader(warehouse: string, options: ReaderOptions = {}): Promise<Reader> {
  const { memoryMiB = 1024, threads = 2, alsoRead = [] } = options;
  // What does not fit into memory; nothing is written there before.
  const spill = mkdtempSync(join(tmpdir(), 'flipstream-spill-'));
  let duck: Duck | undefined;
  const close = () => {
    duck?.close();
    rmSync(spill, { recursive: true, force: true });
  };
  let connection: DuckDBConnection;
  let catalog: Catalog;
  try {
    duck = await openDuck({ memoryMiB, threads, spill, only: [warehouse, ...alsoRead] });
    connection = duck.connection;
    catalog = await openCatalog(connection, warehouse);
  } catch (error) {
    close();
    throw error;
  }

  let turn: Promise<unknown> = Promise.resolve();
  /** One after the other: while one renews the views, none may ask. */
  function inTurn<T>(job: () => Promise<T>): Promise<T> {
    const mine = turn.then(() => named(job));
    turn = mine.catch(() => {});
    return mine;
  }

  async function named<T>(job: () => Promise<T>): Promise<T> {
    try {
      await catalog.renew();
      return await job();
    } catch (cause) {
      if (cause instanceof FlipstreamError) throw cause;
      throw (await catalog.blame(cause)) ?? new FlipstreamError('sql', 'usage', messageOf(cause), cause);
    }
  }

  return {
    async query(sql) {
      return inTurn(async () => {
        let answer: Answer = { columns: [], rows: [] };
        const statements = await statementsOf(connection, sql);
        for (let index = 0; index < statements.count; index++) {
          const prepared = await statements.prepare(index);
          if (!ALLOWED.has(prepared.statementType) || isAnalyzed(prepared.statementType, sql))
            throw readOnly();
          const result = await prepared.runAndReadAll();
          const types = result.columnTypes();
          answer = {
            columns: result.columnNames().map((column, at) => ({ name: column, type: String(types[at]) })),
            rows: result.getRowsJS().map((row) => row.map(plainValue)),
          };
        }
        return answer;
      });
    },
    async stream(sql) {
      return inTurn(() => streamed(connection, sql));
    },
    close,
  };
}

/** One query, and done. @throws as `Reader.query` */
export async function query(warehouse: string, sql: string, options: ReaderOptions = {}): Promise<Answer> {
  const reader = await openReader(warehouse, options);
  try {
    return await reader.query(sql);
  } finally {
    reader.close();
  }
}

async function statementsOf(connection: DuckDBConnection, sql: string) {
  const statements = sql.trim() === '' ? null : await connection.extractStatements(sql);
  if (!statements || statements.count === 0)
    throw new FlipstreamError('sql', 'usage', 'The query is empty: give a SELECT.');
  return statements;
}

async function streamed(connection: DuckDBConnection, sql: string) {
  const statements = await statementsOf(connection, sql);
  if (statements.count !== 1) {
    throw new FlipstreamError('sql', 'usage', `one statement can be exported, not ${statements.count}`);
  }
  const { statementType } = await statements.prepare(0);
  if (statementType !== StatementType.SELECT) throw readOnly();
  const query = sql.replace(/[;\s]+$/, '');
  await connection.run(`CREATE OR REPLACE TEMP TABLE streamed_rows AS SELECT * FROM (${query}\n)`);
  const counted = await connection.runAndReadAll('SELECT count(*)::DOUBLE FROM streamed_rows');
  const result = await connection.stream('FROM streamed_rows');
  const types = result.columnTypes();
  const chunks = result.yieldRowsJs();
  return {
    columns: result.columnNames().map((column, at) => ({ name: column, type: String(types[at]) })),
    total: Number(counted.getRowsJS()[0]?.[0]),
    rows: (async function* () {
      for await (const chunk of chunks) yield chunk.map((row) => row.map(plainValue));
    })(),
  };
}

/** EXPLAIN ANALYZE runs what it explains. */
function isAnalyzed(type: StatementType, sql: string): boolean {
  return (
    type === StatementType.EXPLAIN && /\banalyze\b/i.test(sql) && /\b(copy|export|insert|attach)\b/i.test(sql)
  );
}

function readOnly(): FlipstreamError {
  return new FlipstreamError(
    'sql_read_only',
    'usage',
    'The warehouse is only read here: SELECT, EXPLAIN, and CREATE or DROP of views and tables that last as long as the prompt; to write an answer to a file use --out.',
  );
}
