import type { Kafka } from 'kafkajs';
import type { Clock } from '../../schemas/time.ts';
import { encodeRecords } from '../encode.ts';
import type { LogCounters, Outgoing, Running } from '../log.ts';
import type { Encoded, Seal } from '../values.ts';
import type { Warn } from '../warn.ts';
import type { Catalog } from './catalog.ts';
import type { Schemas } from './schemas.ts';
import type { BrokerAccess } from './settings.ts';
import type { Wire } from './wire.ts';

/** What the parts of one open log on Kafka share. */
export interface Core {
  access: BrokerAccess;
  client: Kafka;
  /** For short questions. Whoever waits long at a broker has one of its own. */
  wire: Wire;
  catalog: Catalog;
  schemas: Schemas;
  seal: Seal | undefined;
  clock: Clock;
  /** Appends records; resolves when all in-sync replicas have them. At least once. */
  send: (records: readonly Encoded[]) => Promise<void>;
  counters: LogCounters;
  sessionMs: number;
  warn: Warn;
  /** Everything that runs on this log, for `close`. */
  running: Set<Running>;
}

/** Most that one record has; topics take twice as much, since a batch has a header. */
export const RECORD_BYTES = 8 * 2 ** 20;

/** @throws FlipstreamError `schema_mismatch`, `record_too_large` (poison), `no_reviewer_key` (usage), and the registry's */
export async function encodeAll({ schemas, seal }: Core, records: readonly Outgoing[]): Promise<Encoded[]> {
  await schemas.readyToWrite(new Set(records.map(({ topic }) => topic)));
  return encodeRecords(records, { ids: schemas.ids, seal, most: RECORD_BYTES });
}
