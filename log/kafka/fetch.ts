/** One request for records to one broker, and its answer. Kafka's Fetch, version 11 (brokers from 2.3). */
import type { Broker } from 'kafkajs/src/cluster/index.js';
import fetchRequest from 'kafkajs/src/protocol/requests/fetch/v11/request.js';
import type { Aborted } from './record-batch.ts';

export interface Wanted {
  topic: string;
  partition: number;
  from: number;
}

/** What a broker said of one partition. */
export interface Fetched {
  topic: string;
  partition: number;
  /** Kafka's error code; 0 is none. */
  error: number;
  /** End of what is committed (last stable offset). */
  end: number;
  earliest: number;
  aborted: Aborted[];
  /** Record batches, packed; the last may be cut off. */
  bytes: Buffer;
}

export interface FetchLimits {
  /** How long the broker may hold an answer that would be empty, milliseconds. */
  waitMs: number;
  bytes: number;
  partitionBytes: number;
}

const READ_COMMITTED = 1;
const CONSUMER = -1;

/** @throws whatever kafkajs does when the connection fails. */
export async function fetchFrom(
  broker: Broker,
  wanted: readonly Wanted[],
  limits: FetchLimits,
): Promise<Fetched[]> {
  const topics = new Map<string, { partition: number; fetchOffset: string; maxBytes: number }[]>();
  for (const { topic, partition, from } of wanted) {
    const partitions = topics.get(topic) ?? [];
    topics.set(topic, partitions);
    partitions.push({ partition, fetchOffset: String(from), maxBytes: limits.partitionBytes });
  }
  const request = fetchRequest({
    replicaId: CONSUMER,
    maxWaitTime: limits.waitMs,
    minBytes: 1,
    maxBytes: limits.bytes,
    isolationLevel: READ_COMMITTED,
    topics: [...topics].map(([topic, partitions]) => ({ topic, partitions })),
  });
  const decode = async (body: Buffer) => readAnswer(body);
  return broker.connectionPool.send({ request, response: { decode, parse: async (answer) => answer } });
}

/** Of a fetch that failed as a whole, every partition has the error. */
function readAnswer(body: Buffer): Fetched[] {
  const failed = body.readInt16BE(4);
  let at = 10;
  const int32 = () => {
    at += 4;
    return body.readInt32BE(at - 4);
  };
  const int64 = () => {
    at += 8;
    return body.readBigInt64BE(at - 8);
  };
  const all: Fetched[] = [];
  for (let topics = int32(); topics > 0; topics--) {
    const length = body.readInt16BE(at);
    const topic = body.toString('utf8', at + 2, at + 2 + length);
    at += 2 + length;
    for (let partitions = int32(); partitions > 0; partitions--) {
      const partition = int32();
      const error = body.readInt16BE(at);
      at += 2 + 8; // error, high watermark
      const end = Number(int64());
      const earliest = Number(int64());
      const aborted: Aborted[] = [];
      for (let count = int32(); count > 0; count--)
        aborted.push({ producerId: int64(), firstOffset: Number(int64()) });
      int32(); // preferred read replica
      const size = Math.max(int32(), 0);
      const bytes = body.subarray(at, at + size);
      at += size;
      all.push({ topic, partition, error: error || failed, end, earliest, aborted, bytes });
    }
  }
  return all;
}
