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
  | { as: 'code'; type: DuckDBType; codes: Codes };

/** For each row the number of its string, in the width DuckDB gives an enum of that many names. */
interface Codes {
  numbers: Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
  isNull: Uint8Array | null;
}

const SAMPLE = 512;
const DISTINCT_IN_SAMPLE = SAMPLE / 4;
const LONGEST_CODED = 200;
const MOST_CODES = 65_536;

/** Chooses the carrier of column `at`; `nothing` when no row has a value there. */
export function carrierOf(kind: string, rows: Rows, at: number): Carrier {
  if (kind === 'list') return isEmptyList(rows, at) ? { as: 'nothing' } : { as: 'json', type: VARCHAR };
  if (isNull(rows, at)) return { as: 'nothing' };
  if (kind === 'long') return { as: 'long', type: BIGINT };
  if (kind === 'int') return { as: 'int', type: INTEGER };
  if (kind === 'boolean') return { as: 'boolean', type: BOOLEAN };
  const coded = repeats(rows, at) ? encoded(rows, at) : null;
  return coded ? { as: 'code', ...coded } : { as: 'string', type: VARCHAR };
}

function isNull(rows: Rows, at: number): boolean {
  for (let i = 0; i < rows.length; i++) {
    const value = rows[i]?.[at];
    if (value !== null && value !== undefined) return false;
  }
  return true;
}

function isEmptyList(rows: Rows, at: number): boolean {
  return rows.every((row) => row[at] === null || (Array.isArray(row[at]) && row[at].length === 0));
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

function encoded(rows: Rows, at: number): { type: DuckDBType; codes: Codes } | null {
  const known = new Map<string, number>();
  const numbers = new Uint32Array(rows.length);
  let nulls: Uint8Array | null = null;
  let last = '';
  let code = -1;
  for (let i = 0; i < rows.length; i++) {
    const value = rows[i]?.[at];
    if (typeof value !== 'string') {
      nulls ??= new Uint8Array(rows.length);
      nulls[i] = 1;
      continue;
    }
    // Neighbours are mostly alike, and comparing costs less than looking up.
    if (code === -1 || value !== last) {
      const seen = known.get(value);
      // DuckDB's enums end a name at a NUL.
      if (
        seen === undefined &&
        (known.size >= MOST_CODES || value.length > LONGEST_CODED || value.includes('\0'))
      )
        return null;
      code = seen ?? known.size;
      if (seen === undefined) known.set(value, code);
      last = value;
    }
    numbers[i] = code;
  }
  const narrow =
    known.size <= 255 ? Uint8Array.from(numbers) : known.size <= 65_535 ? Uint16Array.from(numbers) : numbers;
  return { type: ENUM([...known.keys()]), codes: { numbers: narrow, isNull: nulls } };
}

const VECTOR = duckdb.vector_size();
const valid = new Uint8Array(VECTOR / 8);
const longs = new Int32Array(VECTOR * 2);
const ints = new Int32Array(VECTOR);
const bytes = new Uint8Array(VECTOR);
const TWO_32 = 2 ** 32;

/** Rows that one chunk takes at most. */
export const CHUNK_ROWS = VECTOR;

type Carried = Exclude<Carrier, { as: 'nothing' }>;

interface Source {
  rows: Rows;
  at: number;
  from: number;
  count: number;
}

/** Fills column `column` of a chunk with `count` values of column `at`, from row `from` on. */
export function fill(chunk: DuckDBDataChunk, column: number, carrier: Carried, source: Source): void {
  const vector = duckdb.data_chunk_get_vector(chunk.chunk, column);
  const nulls = put(carrier, vector, source);
  if (nulls === 0) return;
  duckdb.vector_ensure_validity_writable(vector);
  duckdb.copy_data_to_vector_validity(vector, 0, valid.buffer, 0, Math.ceil(source.count / 64) * 8);
}

/** @returns how many of the values are null; if any, `valid` says which. One loop a kind: calls inside cost more than the work. */
function put(carrier: Carried, vector: Vector, { rows, at, from, count }: Source): number {
  const { as } = carrier;
  let nulls = 0;
  if (as === 'string' || as === 'json') {
    for (let i = 0; i < count; i++) {
      const value = rows[from + i]?.[at];
      if (value === null || value === undefined) nulls = markNull(i, nulls);
      else {
        const text = as === 'string' ? String(value) : JSON.stringify(value);
        duckdb.vector_assign_string_element(vector, i, text);
      }
    }
    return nulls;
  }
  if (as === 'code') {
    const { numbers, isNull: missing } = carrier.codes;
    const width = numbers.BYTES_PER_ELEMENT;
    duckdb.copy_data_to_vector(vector, 0, numbers.buffer, from * width, count * width);
    if (missing) for (let i = 0; i < count; i++) if (missing[from + i] === 1) nulls = markNull(i, nulls);
    return nulls;
  }
  if (as === 'long') {
    for (let i = 0; i < count; i++) {
      const value = rows[from + i]?.[at];
      if (typeof value === 'number') {
        longs[2 * i] = value | 0;
        longs[2 * i + 1] = Math.floor(value / TWO_32);
      } else nulls = markNull(i, nulls);
    }
    duckdb.copy_data_to_vector(vector, 0, longs.buffer, 0, count * 8);
    return nulls;
  }
  const target = as === 'int' ? ints : bytes;
  for (let i = 0; i < count; i++) {
    const value = rows[from + i]?.[at];
    if (value === null || value === undefined) nulls = markNull(i, nulls);
    else target[i] = Number(value);
  }
  duckdb.copy_data_to_vector(vector, 0, target.buffer, 0, count * target.BYTES_PER_ELEMENT);
  return nulls;
}

/** @returns the new number of nulls. */
function markNull(index: number, nulls: number): number {
  if (nulls === 0) valid.fill(255);
  valid[index >> 3] = (valid[index >> 3] ?? 0) & ~(1 << (index & 7));
  return nulls + 1;
}

type Vector = ReturnType<typeof duckdb.data_chunk_get_vector>;
