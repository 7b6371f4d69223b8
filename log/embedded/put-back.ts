import type { TopicName } from '../../schemas/topics.ts';
import { countPublished } from '../counting.ts';
import { checkSize } from '../encode.ts';
import type { Outgoing, PartitionEnd, StoredBytes } from '../log.ts';
import { checkUnmoved } from '../moved.ts';
import type { Core } from './core.ts';
import { encodeAll, RECORD_BYTES } from './publish.ts';
import { integer } from './rows.ts';

const ONE = { records: 1, bytes: 0 };

/** What lies at a place, without looking at what it means. */
export function bytesAt(core: Core, topic: TopicName, partition: number, offset: number): StoredBytes | null {
  const [found] = core.read(topic, partition, offset, ONE).records;
  return found?.offset === offset ? { topic, key: found.key, value: found.value } : null;
}

/** @throws FlipstreamError `record_too_large` (poison), `log_moved` (retryable), and what the file throws */
export async function putBack(
  core: Core,
  stored: readonly StoredBytes[],
  along: readonly Outgoing[],
  unmoved?: PartitionEnd,
): Promise<void> {
  const records = [...stored.map((one) => checkSize(one, RECORD_BYTES)), ...(await encodeAll(core, along))];
  if (records.length === 0) return;
  const end = core.db.prepare('SELECT next FROM part WHERE id = ?');
  await core.transact(() => {
    if (unmoved) {
      const row = end.get(core.catalog.part(unmoved.topic, unmoved.partition));
      checkUnmoved(unmoved, integer(row, 'next'));
    }
    core.append(records);
  });
  core.wake.ring();
  countPublished(core.counters, records);
}
