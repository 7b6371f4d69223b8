/**
 * Columns into DuckDB's vectors. @duckdb/node-api sets one value a call and keeps validity in BigInts, which
 * costs more than all the rest of landing a row, so this copies whole columns through the bindings it is built on.
 */
import { isUtf8 } from 'node:buffer';
import type { DuckDBDataChunk } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { type Strip, textStart } from './strip.ts';

/** Rows that one chunk takes at most. */
export const CHUNK_ROWS = duckdb.vector_size();

/**
 * Fills column `column` of a chunk with `count` values of a strip, from row `from` on.
 * @param strip covers all rows (`settle`)
 * @param from a multiple of CHUNK_ROWS
 */
export function fill(
  chunk: DuckDBDataChunk,
  column: number,
  strip: Strip,
  from: number,
  count: number,
): void {
  const vector = duckdb.data_chunk_get_vector(chunk.chunk, column);
  const { width } = strip;
  if (width > 0) duckdb.copy_data_to_vector(vector, 0, strip.data.buffer, from * width, count * width);
  else fillText(vector, strip, from, count);
  if (strip.count === strip.rows) return;
  duckdb.vector_ensure_validity_writable(vector);
  duckdb.copy_data_to_vector_validity(vector, 0, strip.present.buffer, from / 8, Math.ceil(count / 64) * 8);
}

/** DuckDB's string (`duckdb_string_t`): its length, then up to 12 bytes themselves, or 4 of them and a pointer to all. */
const HANDLE_BYTES = 16;
const INLINE = 12;
const handles = new Uint32Array((CHUNK_ROWS * HANDLE_BYTES) / 4);
const handleBytes = new Uint8Array(handles.buffer);
const TWO_32 = 2 ** 32;

/**
 * All text of the chunk becomes one string that DuckDB owns; the strings of the rows then point into it. A call
 * for each string would take most of the time a row takes.
 */
function fillText(vector: Vector, strip: Strip, from: number, count: number): void {
  const { data, ends } = strip;
  const start = textStart(strip, from);
  const all = data.subarray(start, ends[from + count - 1]);
  // The whole is UTF-8 and each part begins where a character does: then each part is UTF-8.
  if (!isUtf8(all) || !beginWhole(strip, from, count)) {
    fillRepaired(vector, strip, from, count);
    return;
  }
  let low = 0;
  let high = 0;
  if (all.length > INLINE) {
    duckdb.vector_assign_string_element_len(vector, 0, all);
    const handle = Buffer.from(duckdb.vector_get_data(vector, HANDLE_BYTES));
    low = handle.readUInt32LE(8);
    high = handle.readUInt32LE(12);
  }
  let at = start;
  for (let i = 0; i < count; i++) {
    const end = ends[from + i] ?? at;
    const length = end - at;
    const word = i * 4;
    handles[word] = length;
    if (length > INLINE) {
      handleBytes[i * HANDLE_BYTES + 4] = data[at] ?? 0;
      handleBytes[i * HANDLE_BYTES + 5] = data[at + 1] ?? 0;
      handleBytes[i * HANDLE_BYTES + 6] = data[at + 2] ?? 0;
      handleBytes[i * HANDLE_BYTES + 7] = data[at + 3] ?? 0;
      const address = low + (at - start);
      handles[word + 2] = address;
      handles[word + 3] = address >= TWO_32 ? high + 1 : high;
    } else {
      handles[word + 1] = 0;
      handles[word + 2] = 0;
      handles[word + 3] = 0;
      for (let byte = 0; byte < length; byte++)
        handleBytes[i * HANDLE_BYTES + 4 + byte] = data[at + byte] ?? 0;
    }
    at = end;
  }
  duckdb.copy_data_to_vector(vector, 0, handles.buffer, 0, count * HANDLE_BYTES);
}

function beginWhole({ data, ends }: Strip, from: number, count: number): boolean {
  for (let i = from; i < from + count; i++) {
    if (((data[ends[i] ?? 0] ?? 0) & 0xc0) === 0x80 && (ends[i] ?? 0) < (ends[from + count - 1] ?? 0))
      return false;
  }
  return true;
}

/** Text that is no UTF-8, which Avro does not rule out: each wrong byte becomes U+FFFD, as it does for every other reader. */
function fillRepaired(vector: Vector, strip: Strip, from: number, count: number): void {
  for (let i = from; i < from + count; i++) {
    const text = strip.data.toString('utf8', textStart(strip, i), strip.ends[i]);
    duckdb.vector_assign_string_element_len(vector, i - from, Buffer.from(text));
  }
}

type Vector = ReturnType<typeof duckdb.data_chunk_get_vector>;
