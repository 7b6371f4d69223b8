import { layoutOf } from '../schemas/avro-layout.ts';
import { type Decode, decoder, encode, schemaText } from '../schemas/codec.ts';
import { dropped } from '../schemas/compatibility.ts';
import { FlipstreamError } from '../schemas/errors.ts';
import { newerWriter } from '../schemas/newer.ts';
import type { RecordOf } from '../schemas/records.ts';
import { TOPICS, type TopicName } from '../schemas/topics.ts';
import { frame, unframe } from './framing.ts';
import type { Batch, Incoming, Outgoing } from './log.ts';

/** A record as it lies in the log. */
export interface RawRecord {
  offset: number;
  timestamp: number;
  key: string;
  value: Buffer;
}

/** What was read from one partition before decoding; the numbers are those of `Batch`. */
export interface RawBatch {
  topic: TopicName;
  partition: number;
  records: RawRecord[];
  /** What an engine could not make records of, each at an offset below `nextOffset`. */
  unreadable?: readonly Refused[];
  nextOffset: number;
  end: number;
  earliest: number;
}

/** A record ready to be written. */
export interface Encoded {
  topic: TopicName;
  key: string;
  value: Buffer;
}

/** Encrypts the content of sealed topics to the reviewer's key. */
export type Seal = (bytes: Buffer) => Promise<Buffer>;

/** Ids under which an engine keeps the schemas of writers. */
export interface SchemaIds {
  /** Id of our own newest schema for `topic`. */
  own: (topic: TopicName) => number;
  /** A writer's schema text; null: definitely no such id. */
  text: (id: number) => string | null;
}

/** A record that cannot be used, and why. */
export interface Refused {
  record: RawRecord;
  reason: string;
  /** For a person; never content. */
  message: string;
}

/** Avro with framing; the `content` of sealed topics is sealed first. @throws FlipstreamError `schema_mismatch`, `no_reviewer_key` */
export async function encodeValue(out: Outgoing, ids: SchemaIds, seal: Seal | undefined): Promise<Encoded> {
  return needsSeal(out) ? encodeNow(await sealed(out, seal), ids) : encodeNow(out, ids);
}

/** Whether `encodeNow` would write content in the clear that the topic wants sealed. */
export function needsSeal(out: Outgoing): boolean {
  return 'sealed' in TOPICS[out.topic] && 'content' in out.value && out.value.content !== null;
}

/** Encodes a record that has nothing to seal. @throws FlipstreamError `schema_mismatch` (poison) */
export function encodeNow(out: Outgoing, ids: SchemaIds): Encoded {
  const body = encode(TOPICS[out.topic].schema, out.value);
  return { topic: out.topic, key: out.key, value: frame(ids.own(out.topic), body) };
}

async function sealed(out: Outgoing, seal: Seal | undefined): Promise<Outgoing> {
  if (!('content' in out.value) || out.value.content === null) return out;
  if (!seal) {
    throw new FlipstreamError(
      'no_reviewer_key',
      'usage',
      `${out.topic} keeps content only sealed, and this process has no reviewer's key: give the log one`,
    );
  }
  return { ...out, value: { ...out.value, content: await seal(Buffer.from(out.value.content)) } };
}

/** Makes what reads the values of one topic; it throws FlipstreamError (poison) at those it cannot read. */
export type Reading<T extends TopicName, V> = (topic: T, ids: SchemaIds) => (bytes: Buffer) => V;

/** Decodes one topic's values, whatever schema they were written under; resolvers are kept by schema id. */
export function valueDecoder<T extends TopicName>(topic: T, ids: SchemaIds): (bytes: Buffer) => RecordOf<T> {
  const schema: (typeof TOPICS)[T]['schema'] = TOPICS[topic].schema;
  return byWriter(topic, ids, (text) => decoder(schema, text));
}

/** Avro binary under our own schema from one topic's values: a check of the bytes, or a translation of another writer's. */
export function valueReader(topic: TopicName, ids: SchemaIds): (bytes: Buffer) => Buffer {
  const { schema } = TOPICS[topic];
  const { fields, locate } = layoutOf(schema);
  const places = new Int32Array(2 * fields.length);
  return byWriter(topic, ids, (text) => {
    if (text !== schemaText(schema)) {
      const decode: Decode<typeof schema> = decoder(schema, text);
      return (body) => encode(schema, decode(body));
    }
    return (body) => {
      locate(body, places);
      return body;
    };
  });
}

/**
 * Reads each value with what `make` makes of its writer's schema, once a schema.
 * @throws FlipstreamError `unknown_schema` (poison), `newer_writer` (retryable), and what `make` does
 */
function byWriter<V>(
  topic: TopicName,
  ids: SchemaIds,
  make: (schemaText: string) => (body: Buffer) => V,
): (bytes: Buffer) => V {
  const known = new Map<number, (body: Buffer) => V>();
  return (bytes) => {
    const { schemaId, body } = unframe(bytes);
    let read = known.get(schemaId);
    if (!read) {
      const text = ids.text(schemaId);
      if (text === null) {
        throw new FlipstreamError('unknown_schema', 'poison', `no schema has the id ${schemaId}`);
      }
      // First: a newer release writes what ours can read; anything else is none, and nobody to wait for.
      read = make(text);
      const lost = dropped(schemaText(TOPICS[topic].schema), text);
      if (lost.length > 0) throw newerWriter(topic, lost);
      known.set(schemaId, read);
    }
    return read(body);
  };
}

/** A batch with the raw form of each record beside it, and the records that could not be decoded. */
export interface Decoded<T extends TopicName = TopicName, V = RecordOf<T>> {
  batch: Batch<T, V>;
  raw: RawRecord[];
  refused: Refused[];
  /** Why the record at `batch.nextOffset` cannot be read yet, if so: to be thrown once the batch before it is done. */
  waits: FlipstreamError | null;
}

/** The batch ends before the first record that has to wait for something, so that nothing waits with it. */
export function decodeBatch<T extends TopicName, V = RecordOf<T>>(
  topic: T,
  read: RawBatch,
  decode: (bytes: Buffer) => V,
): Decoded<T, V> {
  const { partition, end, earliest } = read;
  let { nextOffset } = read;
  let waits: FlipstreamError | null = null;
  const records: Incoming<T, V>[] = [];
  const raw: RawRecord[] = [];
  let refused: Refused[] = [...(read.unreadable ?? [])];
  for (const record of read.records) {
    const { offset, key, timestamp } = record;
    try {
      records.push({ topic, partition, offset, key, timestamp, value: decode(record.value) });
      raw.push(record);
    } catch (error) {
      // Anything but a verdict on these bytes (out of memory, say) is no reason to set the record aside.
      if (!(error instanceof FlipstreamError)) throw error;
      if (error.kind === 'retryable') {
        waits = error;
        nextOffset = offset;
        refused = refused.filter((one) => one.record.offset < offset);
        break;
      }
      if (error.kind !== 'poison' && error.code !== 'schema_unreadable') throw error;
      refused.push({ record, reason: error.code, message: error.message });
    }
  }
  return { batch: { topic, partition, records, nextOffset, end, earliest }, raw, refused, waits };
}

/** For whoever reads without a group. @throws FlipstreamError (retryable) what the very first record waits for */
export function readable<T extends TopicName, V>({ batch, waits }: Decoded<T, V>): Batch<T, V> {
  if (waits && batch.records.length === 0) throw waits;
  return batch;
}
