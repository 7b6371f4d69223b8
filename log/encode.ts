/** Outgoing records to bytes, with an engine's bound on one record. */
import { FlipstreamError } from '../schemas/errors.ts';
import type { Outgoing } from './log.ts';
import { type Encoded, encodeNow, encodeValue, needsSeal, type SchemaIds, type Seal } from './values.ts';

export interface EncodeOptions {
  ids: SchemaIds;
  seal: Seal | undefined;
  /** Most that one record may have, bytes. */
  most: number;
}

/** @throws FlipstreamError `schema_mismatch`, `record_too_large` (poison), `no_reviewer_key` (usage) */
export async function encodeRecords(
  records: readonly Outgoing[],
  { ids, seal, most }: EncodeOptions,
): Promise<Encoded[]> {
  const encoded: Encoded[] = [];
  for (const record of records) {
    // Waiting for what is there at once would cost every record a turn of the event loop.
    const one = needsSeal(record) ? await encodeValue(record, ids, seal) : encodeNow(record, ids);
    encoded.push(checkSize(one, most));
  }
  return encoded;
}

/** @throws FlipstreamError `record_too_large` (poison) */
export function checkSize(record: Encoded, most: number): Encoded {
  if (record.value.length <= most) return record;
  throw new FlipstreamError(
    'record_too_large',
    'poison',
    `a record of ${record.topic} has ${record.value.length} bytes; at most ${most} are taken`,
  );
}

/** Whether it is what `checkSize` throws. */
export function isTooLarge(error: unknown): error is FlipstreamError {
  return error instanceof FlipstreamError && error.code === 'record_too_large';
}
