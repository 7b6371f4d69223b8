import { type LayoutField, layoutOf } from '../schemas/avro-layout.ts';
import { type Cursor, readLong } from '../schemas/avro-reading.ts';
import { decoder } from '../schemas/codec.ts';
import type { SchemaName } from '../schemas/generated.ts';
import { putValue, type Sheet } from './sheet.ts';
import { putNumber, putText, type Strip } from './strip.ts';

/** Puts the fields of one record, Avro binary under our own schema, into row `row` of the sheet's first columns. */
export type PutRecord = (sheet: Sheet, row: number, bytes: Buffer) => void;

/**
 * @param omit fields that have no column.
 * The writer throws FlipstreamError `undecodable` (poison), and has then put nothing.
 */
export function recordWriter(schema: SchemaName, omit: readonly string[] = []): PutRecord {
  const { fields, locate } = layoutOf(schema);
  const places = new Int32Array(2 * fields.length);
  const put = fields.map(fieldWriter);
  let columns = 0;
  const columnOf = fields.map(({ name }) => (omit.includes(name) ? -1 : columns++));
  const hasList = fields.some(({ kind }) => kind === 'list');
  const whole = hasList ? decoder(schema) : null;

  return (sheet, row, bytes) => {
    locate(bytes, places);
    for (let i = 0; i < put.length; i++) {
      const start = places[2 * i] ?? -1;
      if (start === -1) continue;
      const strip = sheet.strips[columnOf[i] ?? -1];
      if (strip !== undefined) put[i]?.(strip, row, bytes, start, places[2 * i + 1] ?? start);
    }
  };

  function fieldWriter(field: LayoutField): PutField {
    if (field.kind === 'string' || field.kind === 'bytes') return putText;
    if (field.kind === 'enum') return symbolWriter(field.symbols);
    if (field.kind !== 'list') return field.kind === 'boolean' ? putBoolean : putVarint;
    return (strip, row, bytes, start, end) => {
      // One byte: an empty list. Others are rare, and worth a whole record's decoding.
      if (end - start > 1)
        putValue(strip, row, new Map(Object.entries(whole?.(bytes) ?? {})).get(field.name));
    };
  }
}

type PutField = (strip: Strip, row: number, bytes: Buffer, start: number, end: number) => void;

const cursor: Cursor = { bytes: new Uint8Array(), at: 0 };

function readAt(bytes: Buffer, at: number): number {
  cursor.bytes = bytes;
  cursor.at = at;
  return readLong(cursor);
}

function putVarint(strip: Strip, row: number, bytes: Buffer, start: number): void {
  putNumber(strip, row, readAt(bytes, start));
}

function putBoolean(strip: Strip, row: number, bytes: Buffer, start: number): void {
  putNumber(strip, row, bytes[start] ?? 0);
}

function symbolWriter(symbols: readonly string[]): PutField {
  const texts = symbols.map((symbol) => Buffer.from(symbol));
  return (strip, row, bytes, start) => {
    const text = texts[readAt(bytes, start)];
    if (text) putText(strip, row, text, 0, text.length);
  };
}
