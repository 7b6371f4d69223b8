import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { FlipstreamError } from '../schemas/errors.ts';
import type { Add } from './delta/actions.ts';
import { list } from './duck.ts';

/** The Parquet files of a version of a table. */
export interface TableFiles {
  dir: string;
  files: Iterable<Add>;
}

/**
 * The file that is to blame for what DuckDB failed at, as an error that names it, or null when none is.
 * @returns FlipstreamError `delta_file_missing`, `delta_file_damaged` (fatal)
 */
export async function blame(
  cause: unknown,
  tables: Iterable<TableFiles>,
  connection: DuckDBConnection,
): Promise<FlipstreamError | null> {
  const said = wordsOf(cause);
  // What the Parquet library itself throws comes without the file's name.
  const nameless = said.includes('Invalid Error: ');
  for (const { dir, files } of tables) {
    for (const add of files) {
      const path = join(dir, add.path);
      if (!said.includes(path) && !nameless) continue;
      const size = statSync(path, { throwIfNoEntry: false })?.size;
      if (size === undefined) return missing(path, cause);
      if (size !== add.size)
        return damaged(path, `it has ${size} bytes, and was written with ${add.size}`, cause);
      const fault = await faultOf(path, connection);
      if (fault !== null) return damaged(path, fault, cause);
    }
  }
  return null;
}

/** Why a file cannot be read to its end, or null. A disk that fails, or too many open files, says nothing about it. */
async function faultOf(path: string, connection: DuckDBConnection): Promise<string | null> {
  try {
    await connection.run(`SELECT bit_xor(hash(held)) FROM read_parquet(${list([path])}) held`);
    return null;
  } catch (error) {
    const said = wordsOf(error);

    return said.startsWith('Invalid ') || said.includes('Could not read enough bytes') ? said : null;
  }
}

/** What was said, without the excerpt of the statement, which names innocent files as well. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const own = error.message.split('\n\nLINE ')[0] ?? '';
  return error.cause === undefined ? own : `${own}: ${wordsOf(error.cause)}`;
}

function missing(path: string, cause: unknown): FlipstreamError {
  return new FlipstreamError(
    'delta_file_missing',
    'fatal',
    `${path} is missing, and the table needs it: restore it from a copy. ${OTHERWISE}`,
    cause,
  );
}

function damaged(path: string, why: string, cause: unknown): FlipstreamError {
  return new FlipstreamError(
    'delta_file_damaged',
    'fatal',
    `${path} is damaged (${why}): restore it from a copy. ${OTHERWISE}`,
    cause,
  );
}

const OTHERWISE =
  'Without one, flipstream replay fills a new home: as it is when sessions, flips or flip_metrics is the table, since they are made of the others, else with --from log. The other tables can be read';
