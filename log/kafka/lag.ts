import { setTimeout as sleep } from 'node:timers/promises';
import { TOPIC_NAMES, type TopicName } from '../../schemas/topics.ts';
import type { PartitionLag } from '../log.ts';
import { endsIt, retryAfter } from '../running.ts';
import type { Core } from './core.ts';
import { named } from './errors.ts';
import { endsOf } from './offsets.ts';
import { relearning } from './wire.ts';

/** A coordinator that has just come up is reading its own topic still. */
const TRIES = 8;

/** Committed offsets of every group that has any on our topics, beside the ends of the partitions. */
export async function lagOf(core: Core): Promise<PartitionLag[]> {
  for (let failures = 1; ; failures++) {
    try {
      return await relearning(core.wire, () => look(core));
    } catch (error) {
      if (endsIt(error) || failures >= TRIES) throw error;
      await sleep(retryAfter(failures));
    }
  }
}

async function look({ client, wire, catalog, access }: Core): Promise<PartitionLag[]> {
  const admin = client.admin();
  try {
    await admin.connect();
    const { groups } = await admin.listGroups();
    const names = groups
      .filter(({ protocolType }) => protocolType === 'consumer')
      .map(({ groupId }) => groupId);
    const committed: Omit<PartitionLag, 'end'>[] = [];
    for (const group of names.sort()) {
      for (const { topic, partitions } of await admin.fetchOffsets({ groupId: group })) {
        if (!isOurs(topic)) continue;
        for (const { partition, offset } of partitions)
          if (Number(offset) >= 0) committed.push({ group, topic, partition, committed: Number(offset) });
      }
    }
    const topics = [...new Set(committed.map(({ topic }) => topic))];
    for (const topic of topics) await catalog.topic(topic);
    await wire.watch(topics);
    const ends = await endsOf(wire, topics);
    return committed.map((one) => ({
      ...one,
      end: Math.max(ends.get(`${one.topic}/${one.partition}`) ?? 0, one.committed),
    }));
  } catch (error) {
    throw named(error, access.brokers);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

function isOurs(topic: string): topic is TopicName {
  return TOPIC_NAMES.some((name) => name === topic);
}
