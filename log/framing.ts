import { FlipstreamError } from '../schemas/errors.ts';

/** Confluent wire format: a zero byte, the writer's schema id (32 bits, big endian), then the Avro binary. */
const MAGIC = 0;
const HEADER = 5;

/** Puts the id of the writer's schema before an Avro body. */
export function frame(schemaId: number, body: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(HEADER + body.length);
  framed[0] = MAGIC;
  framed.writeUInt32BE(schemaId, 1);
  body.copy(framed, HEADER);
  return framed;
}

/** @throws FlipstreamError `bad_frame` (poison) when these bytes were not written by a producer of ours. */
export function unframe(bytes: Buffer): { schemaId: number; body: Buffer } {
  if (bytes.length < HEADER) {
    throw new FlipstreamError('bad_frame', 'poison', `${bytes.length} bytes are too few for a framed record`);
  }
  if (bytes[0] !== MAGIC) {
    throw new FlipstreamError('bad_frame', 'poison', `the record begins with byte ${bytes[0]}, not with 0`);
  }
  return { schemaId: bytes.readUInt32BE(1), body: bytes.subarray(HEADER) };
}
