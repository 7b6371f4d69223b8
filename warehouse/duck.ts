import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

/** A DuckDB of our own in memory; it holds no data of ours, only what passes through. */
export interface Duck {
  connection: DuckDBConnection;
  close(): void;
}

export interface DuckOptions {
  /** DuckDB's own default takes most of the machine. */
  memoryMiB?: number;
  threads?: number;
  /** Where what does not fit into memory goes for the while; default: nowhere, and the query fails. */
  spill?: string;
  /** Only these folders may be read, and nothing may change the settings again. */
  only?: readonly string[];
}

export async function openDuck({
  memoryMiB = 512,
  threads = 1,
  spill,
  only,
}: DuckOptions = {}): Promise<Duck> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryMiB}MiB`,
    threads: String(threads),
    temp_directory: spill ?? '',
    preserve_insertion_order: 'true',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  // Time in a row is UTC text; whatever a query makes of it must not depend on the machine.
  await connection.run(`SET TimeZone = 'UTC'`);
  if (only) {
    const folders = spill === undefined ? only : [...only, spill];
    await connection.run(`SET allowed_directories = [${folders.map(text).join(', ')}]`);
    await connection.run('SET enable_external_access = false');
    await connection.run('SET lock_configuration = true');
  }
  return {
    connection,
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** A string as an SQL literal. */
export function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** A name as an SQL identifier. */
export function name(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}

/** A list of file names as an SQL literal. */
export function list(values: readonly string[]): string {
  return `[${values.map(text).join(', ')}]`;
}
