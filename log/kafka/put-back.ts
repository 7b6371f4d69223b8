import { countPublished } from '../counting.ts';
import { checkSize } from '../encode.ts';
import type { Outgoing, PartitionEnd, StoredBytes } from '../log.ts';
import { checkUnmoved } from '../moved.ts';
import { partitionOf } from '../partition.ts';
import { type Core, encodeAll, RECORD_BYTES } from './core.ts';
import { openLease, type Placed } from './lease.ts';
import { boundsOf } from './offsets.ts';

/** Two that put back at once: the later one wins, and the other learns that nothing of its was taken. */
const TRANSACTIONAL_ID = 'deadletter-put-back';

/**
 * Resolves when what was put back can be read.
 * @throws FlipstreamError `record_too_large` (poison), `topic_partitions` (usage), `log_moved`, `fenced`, `kafka_unavailable` (retryable)
 */
export async function putBack(
  core: Core,
  stored: readonly StoredBytes[],
  along: readonly Outgoing[],
  unmoved?: PartitionEnd,
): Promise<void> {
  const encoded = [...stored.map((one) => checkSize(one, RECORD_BYTES)), ...(await encodeAll(core, along))];
  if (encoded.length === 0) return;
  const partitionsOf = await core.catalog.forWriting();
  const records: Placed[] = [];
  for (const { topic, key, value } of encoded)
    records.push({ topic, partition: partitionOf(key, await partitionsOf(topic)), key, value });
  const lease = await openLease(core.access, TRANSACTIONAL_ID);
  try {
    // Whoever held the lease before has ended, and whoever takes it now ends us: nothing comes in between.
    if (unmoved) checkUnmoved(unmoved, (await boundsOf(core.wire, unmoved.topic, unmoved.partition)).end);
    await lease.commit({ records });
  } finally {
    await lease.close();
  }
  // The next lease is given once the markers of this transaction are written: then it can be read.
  await (await openLease(core.access, TRANSACTIONAL_ID)).close();
  countPublished(core.counters, encoded);
}
