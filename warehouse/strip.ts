/**
 * The values of one column, laid out as DuckDB and Arrow lay them out, so that they cross into DuckDB by the
 * thousand. Nothing here is an object a row: the garbage collector has nothing to do.
 */

/** Bytes a value takes, 0 for text: its bytes lie one after another, and `ends` says where each ends. */
export type Width = 0 | 1 | 4 | 8;

export interface Strip {
  readonly width: Width;
  data: Buffer<ArrayBuffer>;
  /** `data` as 32-bit words. */
  words: Int32Array<ArrayBuffer>;
  ends: Uint32Array<ArrayBuffer>;
  /** One bit a row: whether it has a value. */
  present: Uint8Array<ArrayBuffer>;
  /** Bytes of text so far. */
  used: number;
  /** Rows up to the last that has a value; those after it have none. */
  rows: number;
  /** Rows that have a value. */
  count: number;
  /** Rows there is room for; a multiple of 64. */
  room: number;
}

const FIRST_ROOM = 1024;

export function newStrip(width: Width): Strip {
  return {
    width,
    data: zeros(0),
    words: new Int32Array(),
    ends: new Uint32Array(),
    present: new Uint8Array(),
    used: 0,
    rows: 0,
    count: 0,
    room: 0,
  };
}

/** Takes every value out and keeps the room. */
export function clear(strip: Strip): void {
  strip.present.fill(0, 0, (strip.rows + 7) >> 3);
  strip.used = 0;
  strip.rows = 0;
  strip.count = 0;
}

/** Makes `strip` cover `rows` rows, those without a value null. */
export function settle(strip: Strip, rows: number): void {
  if (rows > strip.room) grow(strip, rows);
  if (strip.width === 0 && rows > strip.rows) strip.ends.fill(strip.used, strip.rows, rows);
  if (rows > strip.rows) strip.rows = rows;
}

/** Gives the next row that has a value, `row`, the text between two places of `source`. Rows go up, each once. */
export function putText(strip: Strip, row: number, source: Buffer, start: number, end: number): void {
  mark(strip, row);
  const used = strip.used + end - start;
  if (used > strip.data.length) growData(strip, used);
  source.copy(strip.data, strip.used, start, end);
  strip.used = used;
  strip.ends[row] = used;
}

const TWO_32 = 2 ** 32;

/** The same with a whole number, or 0 or 1 for a boolean. */
export function putNumber(strip: Strip, row: number, value: number): void {
  mark(strip, row);
  if (strip.width === 8) {
    strip.words[2 * row] = value | 0;
    strip.words[2 * row + 1] = Math.floor(value / TWO_32);
  } else if (strip.width === 4) strip.words[row] = value;
  else strip.data[row] = value;
}

function hasValue(strip: Strip, row: number): boolean {
  return row < strip.rows && ((strip.present[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
}

export function textStart(strip: Strip, row: number): number {
  return row === 0 ? 0 : (strip.ends[row - 1] ?? 0);
}

/** The number of a row that has one. */
export function numberAt(strip: Strip, row: number): number {
  if (strip.width === 1) return strip.data[row] ?? 0;
  if (strip.width === 4) return strip.words[row] ?? 0;
  return (strip.words[2 * row + 1] ?? 0) * TWO_32 + ((strip.words[2 * row] ?? 0) >>> 0);
}

/** The value of a row, null where it has none. */
export function valueAt(strip: Strip, row: number): string | number | null {
  if (!hasValue(strip, row)) return null;
  if (strip.width > 0) return numberAt(strip, row);
  return strip.data.toString('utf8', textStart(strip, row), strip.ends[row] ?? 0);
}

/** Gives row `row` of `to` the value that row `at` of `from` has, or none. */
export function copyValue(to: Strip, row: number, from: Strip, at: number): void {
  if (!hasValue(from, at)) return;
  if (to.width > 0) putNumber(to, row, numberAt(from, at));
  else putText(to, row, from.data, textStart(from, at), from.ends[at] ?? 0);
}

function mark(strip: Strip, row: number): void {
  if (row >= strip.room) grow(strip, row + 1);
  if (strip.width === 0 && row > strip.rows) strip.ends.fill(strip.used, strip.rows, row);
  strip.rows = row + 1;
  strip.present[row >> 3] = (strip.present[row >> 3] ?? 0) | (1 << (row & 7));
  strip.count++;
}

function grow(strip: Strip, rows: number): void {
  let room = strip.room || FIRST_ROOM;
  while (room < rows) room *= 2;
  const present = new Uint8Array(room / 8);
  present.set(strip.present);
  strip.present = present;
  if (strip.width === 0) {
    const ends = new Uint32Array(room);
    ends.set(strip.ends);
    strip.ends = ends;
  } else growData(strip, room * strip.width);
  strip.room = room;
}

function growData(strip: Strip, bytes: number): void {
  let length = strip.data.length || FIRST_ROOM;
  while (length < bytes) length *= 2;
  const data = zeros(length);
  strip.data.copy(data);
  strip.data = data;
  if (strip.width > 1) strip.words = new Int32Array(data.buffer);
}

function zeros(bytes: number): Buffer<ArrayBuffer> {
  return Buffer.from(new ArrayBuffer(bytes));
}
