/**
 * Where each field of an Avro record lies in its bytes, without making an object of it: what builds columns
 * needs no records, and making them costs most of reading the log.
 */
import { z } from 'zod';
import { type Cursor, readLong, skipBytes, unreadable } from './avro-reading.ts';
import { SCHEMAS, type SchemaName } from './generated.ts';

const Plain = z.enum(['string', 'bytes', 'long', 'int', 'boolean']);
const Item = z.union([
  Plain.transform((kind) => [kind]),
  z
    .object({ type: z.literal('record'), fields: z.array(z.object({ type: Plain })) })
    .transform(({ fields }) => fields.map(({ type }) => type)),
]);
const FieldType = z.union([
  Plain.transform((kind) => ({ kind, nullable: false })),
  z.tuple([z.literal('null'), Plain]).transform(([, kind]) => ({ kind, nullable: true })),
  z
    .object({ type: z.literal('enum'), symbols: z.array(z.string()) })
    .transform(({ symbols }) => ({ kind: 'enum' as const, nullable: false, symbols })),
  z
    .object({ type: z.literal('array'), items: Item })
    .transform(({ items }) => ({ kind: 'list' as const, nullable: false, items })),
]);
const RecordSchema = z.object({ fields: z.array(z.object({ name: z.string(), type: FieldType })) });

export type LayoutField = { name: string } & z.infer<typeof FieldType>;

export interface Layout {
  fields: readonly LayoutField[];
  /**
   * Walks over one whole record and notes of field `i` where its value begins (`into[2 * i]`) and ends
   * (`into[2 * i + 1]`), both -1 for null. Of strings and bytes that is what follows the length. Whether
   * strings are UTF-8 is not looked at.
   * @throws FlipstreamError `undecodable` (poison)
   */
  locate(bytes: Uint8Array, into: Int32Array): void;
}

const NOTHING = new Uint8Array();

/** @throws ZodError when the schema holds a type that is not known here yet: extend this file. */
export function layoutOf(schema: SchemaName): Layout {
  const fields = RecordSchema.parse(SCHEMAS[schema]).fields.map(({ name, type }) => ({ name, ...type }));
  const cursor: Cursor = { bytes: NOTHING, at: 0 };
  const nullable = Uint8Array.from(fields, (field) => (field.nullable ? 1 : 0));
  const isText = Uint8Array.from(fields, ({ kind }) => (kind === 'string' || kind === 'bytes' ? 1 : 0));

  function skipField(index: number): number {
    const field = fields[index];
    return field ? skip(field, cursor) : -1;
  }

  return {
    fields,
    locate(bytes, into) {
      cursor.bytes = bytes;
      const size = bytes.length;
      let at = 0;
      for (let i = 0; i < nullable.length; i++) {
        if (nullable[i] === 1) {
          const branch = bytes[at++];
          if (branch === 0) {
            into[2 * i] = -1;
            into[2 * i + 1] = -1;
            continue;
          }
          if (branch !== 2) throw unreadable('has no such branch of a union');
        }
        const length = bytes[at] ?? 1;
        if (isText[i] === 1 && length < 0x80 && (length & 1) === 0 && at + 1 + (length >> 1) <= size) {
          // Most are strings of less than 64 bytes: one byte is their length.
          into[2 * i] = at + 1;
          at += 1 + (length >> 1);
        } else {
          cursor.at = at;
          into[2 * i] = skipField(i);
          at = cursor.at;
        }
        into[2 * i + 1] = at;
      }
      cursor.bytes = NOTHING;
      if (at !== size) throw unreadable('goes on after its end');
    },
  };
}

const INT = 2 ** 31;

/** @returns where the value begins; it ends at the cursor. */
function skip(field: LayoutField, cursor: Cursor): number {
  if (field.kind === 'list') return skipList(field.items, cursor);
  if (field.kind !== 'enum') return skipPlain(field.kind, cursor);
  const start = cursor.at;
  const index = readLong(cursor);
  if (index < 0 || index >= field.symbols.length) throw unreadable(`has no such symbol of ${field.name}`);
  return start;
}

function skipPlain(kind: z.infer<typeof Plain>, cursor: Cursor): number {
  if (kind === 'string' || kind === 'bytes') return skipBytes(cursor);
  const start = cursor.at;
  if (kind === 'boolean') {
    const byte = cursor.bytes[cursor.at++];
    if (byte !== 0 && byte !== 1) throw unreadable('holds a boolean that is neither');
  } else {
    const value = readLong(cursor);
    if (kind === 'int' && (value < -INT || value >= INT)) throw unreadable('holds an int beyond 32 bits');
  }
  return start;
}

function skipList(items: readonly z.infer<typeof Plain>[], cursor: Cursor): number {
  const start = cursor.at;
  for (let count = readLong(cursor); count !== 0; count = readLong(cursor)) {
    if (count < 0) readLong(cursor);
    // A count larger than the bytes that are left would be walked for ever; every item takes a byte or more.
    const left = cursor.bytes.length - cursor.at;
    if (Math.abs(count) > left) throw unreadable('holds a list longer than its bytes');
    for (let n = Math.abs(count); n > 0; n--) for (const kind of items) skipPlain(kind, cursor);
  }
  return start;
}
