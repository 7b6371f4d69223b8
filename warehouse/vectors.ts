/**
 * Columns of records into DuckDB's vectors. @duckdb/node-api sets one value a call and keeps validity in
 * BigInts, which costs more than all the rest of landing a row, so this writes whole columns through the
 * bindings it is built on.
 */
import {
  BIGINT,
  BOOLEAN,
  type DuckDBDataChunk,
  type DuckDBType,
  ENUM,
  INTEGER,
  VARCHAR,
} from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';

/** Rows as arrays of values in the order of their columns. */
export type Rows = readonly (readonly unknown[])[];

/** How one column of one set of rows crosses into DuckDB. */
export type Carrier =
  | { as: 'nothing' }
  | { as: 'string' | 'json' | 'long' | 'int' | 'boolean'; type: DuckDBType }
  /** Few distinct strings: numbers cross, and the strings once. */
  | { as: 'code'; type: DuckDBType; codes: Map<string, number> };

const SAMPLE = 512;
const DISTINCT_IN_SAMPLE = SAMPLE / 4;
const LONGEST_CODED = 200;
const MOST_CODES = 65_536;

/** Chooses the carrier of column `at`; `nothing` when no row has a value there. */
export function carrierOf(kind: string, rows: Rows, at: number): Carrier {
  if (kind === 'list') {
    const some = rows.some((row) => row[at] !== null && !(Array.isArray(row[at]) && row[at].length === 0));
    return some ? { as: 'json', type: VARCHAR } : { as: 'nothing' };
  }
  if (!rows.some((row) => row[at] !== null && row[at] !== undefined)) return { as: 'nothing' };
  if (kind === 'long') return { as: 'long', type: BIGINT };
  if (kind === 'int') return { as: 'int', type: INTEGER };
  if (kind === 'boolean') return { as: 'boolean', type: BOOLEAN };
  const codes = repeats(rows, at) ? codesOf(rows, at) : null;
  return codes ? { as: 'code', type: ENUM([...codes.keys()]), codes } : { as: 'string', type: VARCHAR };
}

/** Whether a sample, taken over the whole length, repeats itself. */
function repeats(rows: Rows, at: number): boolean {
  const step = Math.max(1, Math.floor(rows.length / SAMPLE));
  const seen = new Set<string>();
  let present = 0;
  for (let i = 0; i < rows.length; i += step) {
    const value = rows[i]?.[at];
    if (typeof value !== 'string') continue;
    if (value.length > LONGEST_CODED) return false;
    present++;
    seen.add(value);
    if (seen.size > DISTINCT_IN_SAMPLE) return false;
  }
  return seen.size * 2 <= present;
}

function codesOf(rows: Rows, at: number): Map<string, number> | null {
  const codes = new Map<string, number>();
  for (const row of rows) {
    const value = row[at];
    if (typeof value !== 'string' || codes.has(value)) continue;
    // DuckDB's enums end a name at a NUL.
    if (codes.size >= MOST_CODES || value.length > LONGEST_CODED || value.includes('\0')) return null;
    codes.set(value, codes.size);
  }
  return codes;
}

const VECTOR = duckdb.vector_size();
const valid = new Uint8Array(VECTOR / 8);
const longs = new Int32Array(VECTOR * 2);
const ints = new Int32Array(VECTOR);
const bytes = new Uint8Array(VECTOR);
const shorts = new Uint16Array(VECTOR);
const words = new Uint32Array(VECTOR);
const TWO_32 = 2 ** 32;

/** Rows that one chunk takes at most. */
export const CHUNK_ROWS = VECTOR;

/** Fills column `column` of a chunk with `count` values of column `at`, from row `from` on. */
export function fill(
  chunk: DuckDBDataChunk,
  column: number,
  carrier: Exclude<Carrier, { as: 'nothing' }>,
  source: { rows: Rows; at: number; from: number; count: number },
): void {
  const vector = duckdb.data_chunk_get_vector(chunk.chunk, column);
  const { rows, at, from, count } = source;
  let nulls = 0;
  const put = setter(carrier, vector);
  for (let i = 0; i < count; i++) {
    const value = rows[from + i]?.[at];
    if (value === null || value === undefined) {
      if (nulls++ === 0) valid.fill(255);
      valid[i >> 3] = (valid[i >> 3] ?? 0) & ~(1 << (i & 7));
    } else put.one(i, value);
  }
  if (put.buffer) {
    const { buffer, BYTES_PER_ELEMENT } = put.buffer;
    duckdb.copy_data_to_vector(vector, 0, buffer, 0, count * BYTES_PER_ELEMENT * (put.lanes ?? 1));
  }
  if (nulls === 0) return;
  duckdb.vector_ensure_validity_writable(vector);
  duckdb.copy_data_to_vector_validity(vector, 0, valid.buffer, 0, Math.ceil(count / 64) * 8);
}

interface Setter {
  one: (index: number, value: unknown) => void;
  buffer?:
    | Int32Array<ArrayBuffer>
    | Uint8Array<ArrayBuffer>
    | Uint16Array<ArrayBuffer>
    | Uint32Array<ArrayBuffer>;
  lanes?: number;
}

function setter(
  carrier: Exclude<Carrier, { as: 'nothing' }>,
  vector: ReturnType<typeof duckdb.data_chunk_get_vector>,
): Setter {
  switch (carrier.as) {
    case 'string':
      return { one: (i, value) => duckdb.vector_assign_string_element(vector, i, String(value)) };
    case 'json':
      return { one: (i, value) => duckdb.vector_assign_string_element(vector, i, JSON.stringify(value)) };
    case 'code': {
      const { codes } = carrier;
      // The width DuckDB gives an enum of this many names.
      const buffer = codes.size <= 255 ? bytes : codes.size <= 65_535 ? shorts : words;
      return {
        buffer,
        one: (i, value) => {
          buffer[i] = codes.get(String(value)) ?? 0;
        },
      };
    }
    case 'long':
      return {
        buffer: longs,
        lanes: 2,
        one: (i, value) => {
          const number = Number(value);
          longs[2 * i] = number | 0;
          longs[2 * i + 1] = Math.floor(number / TWO_32);
        },
      };
    case 'int':
      return {
        buffer: ints,
        one: (i, value) => {
          ints[i] = Number(value);
        },
      };
    case 'boolean':
      return {
        buffer: bytes,
        one: (i, value) => {
          bytes[i] = value ? 1 : 0;
        },
      };
  }
}
