import { setTimeout as sleep } from 'node:timers/promises';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { TopicName } from '../../schemas/topics.ts';
import type { StoredBytes } from '../log.ts';
import { retryAfter } from '../running.ts';
import type { RawBatch, RawRecord } from '../values.ts';
import type { Core } from './core.ts';
import { kafkaCode, named, notAllowed, unavailable } from './errors.ts';
import { fetchFrom } from './fetch.ts';
import { boundsOf } from './offsets.ts';
import { readBatches } from './record-batch.ts';

/** Bytes of values that one call gives at most; one record where there is one. */
const READ_BYTES = 16 * 2 ** 20;
/** TOPIC_AUTHORIZATION_FAILED */
const NOT_ALLOWED = 29;
const LIMITS = { waitMs: 0, bytes: 8 * 2 ** 20, partitionBytes: 8 * 2 ** 20 };

/** Records of one partition from an offset on, without a group. @throws FlipstreamError `unknown_partition` (usage), `kafka_unavailable` */
export async function read(
  core: Core,
  topic: TopicName,
  partition: number,
  from: number,
  max: number,
): Promise<RawBatch> {
  const { partitions } = await core.catalog.topic(topic);
  if (!Number.isInteger(partition) || partition < 0 || partition >= partitions)
    throw new FlipstreamError(
      'unknown_partition',
      'usage',
      `${topic} has the partitions 0 to ${partitions - 1}, not ${partition}`,
    );
  for (let failures = 1; ; failures++) {
    try {
      return await collect(core, topic, partition, from, max);
    } catch (error) {
      await core.wire.refresh();
      if (!hasMoved(error) || failures === TRIES) throw named(error, core.access.brokers);
      await sleep(retryAfter(failures));
    }
  }
}

/** A partition that is getting another leader has one again within seconds. */
const TRIES = 8;
const MOVED: ReadonlySet<string | null> = new Set(['NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE']);

/** Ours have no cause: what one broker has said, and not that none can be reached. */
function hasMoved(error: unknown): boolean {
  if (MOVED.has(kafkaCode(error))) return true;
  return error instanceof FlipstreamError && error.kind === 'retryable' && error.cause === undefined;
}

async function collect(
  { wire }: Core,
  topic: TopicName,
  partition: number,
  from: number,
  max: number,
): Promise<RawBatch> {
  const { earliest, end } = await boundsOf(wire, topic, partition);
  const records: RawRecord[] = [];
  let next = Math.max(from, earliest);
  let bytes = 0;
  while (next < end && records.length < max && bytes < READ_BYTES) {
    const broker = await wire.leader(topic, partition);
    const [fetched] = await fetchFrom(broker, [{ topic, partition, from: next }], LIMITS);
    if (fetched?.error === NOT_ALLOWED) throw notAllowed(`reading ${topic}`, wire.brokers);
    if (fetched?.error !== 0)
      throw unavailable(`${topic}/${partition}: Kafka answers with error ${fetched?.error}`, wire.brokers);
    const portion = await readBatches(fetched.bytes, next, fetched.aborted);
    if (portion.nextOffset === next)
      throw unavailable(`${topic}/${partition}: nothing comes at ${next} of ${end}`, wire.brokers);
    next = portion.nextOffset;
    for (const record of portion.records) {
      records.push(record);
      bytes += record.value.length;
      if (records.length >= max || bytes >= READ_BYTES) {
        if (record !== portion.records.at(-1)) next = record.offset + 1;
        break;
      }
    }
  }
  return { topic, partition, records, nextOffset: next, end: Math.max(end, next), earliest };
}

/** What lies at a place, without looking at what it means. */
export async function bytesAt(
  core: Core,
  topic: TopicName,
  partition: number,
  offset: number,
): Promise<StoredBytes | null> {
  const [found] = (await read(core, topic, partition, offset, 1)).records;
  return found?.offset === offset ? { topic, key: found.key, value: found.value } : null;
}
