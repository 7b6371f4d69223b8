import { setTimeout as sleep } from 'node:timers/promises';
import { TOPIC_NAMES, type TopicName } from '../../schemas/topics.ts';
import type { PartitionLag } from '../log.ts';
import { endsIt, retryAfter } from '../running.ts';
import type { Core } from './core.ts';
import { named } from './errors.ts';
import { EARLIEST, edgesOf, LATEST } from './offsets.ts';
import { relearning } from './wire.ts';

/** A coordinator that has just come up is reading its own topic still. */
const TRIES = 8;

/** Of every group that has committed anything in our topics: a partition where it has not, it reads from the beginning. */
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
    const read: { group: string; topic: string; committed: Map<number, number> }[] = [];
    for (const group of names.sort()) {
      for (const { topic, partitions } of await admin.fetchOffsets({ groupId: group })) {
        if (!isOurs(topic)) continue;
        const known = partitions.filter(({ offset }) => Number(offset) >= 0);
        if (known.length === 0) continue;
        const committed = new Map(known.map(({ partition, offset }) => [partition, Number(offset)]));
        read.push({ group, topic, committed });
      }
    }
    const topics = [...new Set(read.map(({ topic }) => topic))];
    for (const topic of topics) await catalog.topic(topic);
    await wire.watch(topics);
    const first = await edgesOf(wire, topics, EARLIEST);
    const ends = await edgesOf(wire, topics, LATEST);
    return read.flatMap(({ group, topic, committed }) =>
      Array.from({ length: wire.partitions(topic) }, (_, partition) => {
        const place = `${topic}/${partition}`;
        const at = Math.max(committed.get(partition) ?? 0, first.get(place) ?? 0);
        return { group, topic, partition, committed: at, end: Math.max(ends.get(place) ?? 0, at) };
      }),
    );
  } catch (error) {
    throw named(error, access.brokers);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

function isOurs(topic: string): topic is TopicName {
  return TOPIC_NAMES.some((name) => name === topic);
}
