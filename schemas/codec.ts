import avro from 'avsc';
import { boundArrays } from './bounded-array.ts';
import { FlipstreamError, messageOf } from './errors.ts';
import { type Records, SCHEMAS, type SchemaName } from './generated.ts';

/** Ambiguous unions fail at load instead of wrapping values silently. A new object each time: avsc keeps its registry of names in it. */
const options = () => ({ wrapUnions: 'never', typeHook: boundArrays }) as const;

const readers = new Map<SchemaName, avro.Type>();

function readerOf(name: SchemaName): avro.Type {
  let type = readers.get(name);
  if (!type) {
    type = avro.Type.forSchema(SCHEMAS[name] as avro.Schema, options());
    readers.set(name, type);
  }
  return type;
}

/**
 * Avro binary of one record under our own newest schema.
 * @throws FlipstreamError `schema_mismatch` (poison) naming the field that does not fit.
 */
export function encode<N extends SchemaName>(name: N, record: Records[N]): Buffer {
  return encodeUnknown(name, record);
}

/** The same for a value whose form is not known yet: avsc checks every field of it. */
export function encodeUnknown(name: SchemaName, record: unknown): Buffer {
  const type = readerOf(name);
  try {
    return type.toBuffer(record);
  } catch (cause) {
    const bad: string[] = [];
    type.isValid(record, { errorHook: (path) => bad.push(path.join('.')) });
    // avsc's own message quotes the value.
    const where = bad.length > 0 ? `field ${bad.join(', ')} does not fit` : 'the record does not fit';
    throw new FlipstreamError('schema_mismatch', 'poison', `${name}: ${where}`, cause);
  }
}

export type Decode<N extends SchemaName> = (bytes: Buffer) => Records[N];

/**
 * A decoder from a writer's schema to ours, made once and kept by the caller: building the resolver costs a
 * hundred decodes.
 * @throws FlipstreamError `schema_unreadable` (fatal) when ours cannot read what the writer wrote.
 */
export function decoder<N extends SchemaName>(
  name: N,
  writerSchema: string = JSON.stringify(SCHEMAS[name]),
): Decode<N> {
  const reader = readerOf(name);
  let writer: avro.Type;
  let resolver: avro.Resolver;
  try {
    writer = avro.Type.forSchema(JSON.parse(writerSchema) as avro.Schema, options());
    resolver = reader.createResolver(writer);
  } catch (cause) {
    throw new FlipstreamError(
      'schema_unreadable',
      'fatal',
      `${name}: our schema cannot read what was written (${messageOf(cause)})`,
      cause,
    );
  }
  const same = writer.fingerprint().equals(reader.fingerprint());
  return (bytes) => {
    try {
      return (same ? reader.fromBuffer(bytes) : reader.fromBuffer(bytes, resolver)) as Records[N];
    } catch (cause) {
      throw new FlipstreamError(
        'undecodable',
        'poison',
        `${name}: ${bytes.length} bytes are not this Avro record (${messageOf(cause)})`,
        cause,
      );
    }
  };
}

/** The schema as the registry stores it. */
export function schemaText(name: SchemaName): string {
  return JSON.stringify(SCHEMAS[name]);
}
