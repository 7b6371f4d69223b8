/** The few reads that walking over Avro binary takes (Avro 1.12 specification, "Binary Encoding"). */
import { FlipstreamError } from './errors.ts';

/** A place in bytes that moves on as they are read. */
export interface Cursor {
  bytes: Uint8Array;
  at: number;
}

/**
 * An `int` or `long`.
 * @throws FlipstreamError `undecodable` (poison) when it is cut short or no number of JavaScript's can hold it.
 */
export function readLong(cursor: Cursor): number {
  const { bytes } = cursor;
  const first = bytes[cursor.at++];
  if (first === undefined) throw unreadable('ends inside a number');
  if (first < 0x80) return (first >> 1) ^ -(first & 1);
  // The lowest bit is the sign; apart from the others, it cannot be lost to rounding.
  let half = (first & 0x7f) >> 1;
  for (let scale = 64; ; scale *= 128) {
    const next = bytes[cursor.at++];
    if (next === undefined) throw unreadable('ends inside a number');
    half += (next & 0x7f) * scale;
    if (next < 0x80) break;
    if (scale > Number.MAX_SAFE_INTEGER) throw unreadable('holds a number that is too long');
  }
  const value = first & 1 ? -half - 1 : half;
  // The same bound as avsc's, so that a record is poison for all readers or for none.
  if (Math.abs(value) >= Number.MAX_SAFE_INTEGER) throw unreadable('holds a number beyond 2^53');
  return value;
}

/** Moves over a length and as many bytes. @returns where the bytes begin; they end at the cursor. */
export function skipBytes(cursor: Cursor): number {
  const length = readLong(cursor);
  const start = cursor.at;
  if (length < 0 || length > cursor.bytes.length - start) throw unreadable('ends inside a string');
  cursor.at = start + length;
  return start;
}

/** What is wrong with these bytes, as a poison record's error; never content. */
export function unreadable(what: string): FlipstreamError {
  return new FlipstreamError('undecodable', 'poison', `not this Avro record: it ${what}`);
}
