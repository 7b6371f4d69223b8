import type { Broker, TopicPlaces } from 'kafkajs/src/cluster/index.js';
import type { Wire } from './wire.ts';

export interface Place {
  topic: string;
  partition: number;
}

export interface Committed extends Place {
  /** -1 when the group has committed nothing. */
  offset: number;
  /** Dead letters of records below this offset have been written. */
  letters: number;
}

export const EARLIEST = -2;
export const LATEST = -1;
const READ_COMMITTED = 1;

/** What a group has committed for these partitions. */
export async function committedOf(wire: Wire, group: string, places: readonly Place[]): Promise<Committed[]> {
  const broker = await wire.groupCoordinator(group);
  const topics = byTopic(places, ({ partition }) => ({ partition }));
  const { responses } = await broker.offsetFetch({ groupId: group, topics });
  return responses.flatMap(({ topic, partitions }) =>
    partitions.map(({ partition, offset, metadata }) => ({
      topic,
      partition,
      offset: Number(offset),
      letters: lettersOf(metadata),
    })),
  );
}

/** In the form that a commit takes. */
export function commitOf(committed: readonly Committed[]): TopicPlaces[] {
  return byTopic(committed, ({ partition, offset, letters }) => ({
    partition,
    offset: String(offset),
    metadata: letters > 0 ? `letters=${letters}` : '',
  }));
}

function lettersOf(metadata: string | null): number {
  const found = /^letters=(\d+)$/.exec(metadata ?? '');
  return found ? Number(found[1]) : 0;
}

/** First offset that is kept, and the end of what is committed. */
export async function boundsOf(wire: Wire, topic: string, partition: number) {
  const broker = await wire.leader(topic, partition);
  const [earliest, end] = await Promise.all([
    listOne(broker, topic, partition, EARLIEST),
    listOne(broker, topic, partition, LATEST),
  ]);
  return { earliest, end };
}

async function listOne(broker: Broker, topic: string, partition: number, timestamp: number): Promise<number> {
  const topics = [{ topic, partitions: [{ partition, timestamp }] }];
  const { responses } = await broker.listOffsets({ isolationLevel: READ_COMMITTED, topics });
  return Number(responses[0]?.partitions[0]?.offset ?? 0);
}

/**
 * The first offset that is kept of each partition, or the end of what is committed, by `topic/partition`; those
 * without a leader are left out.
 */
export async function edgesOf(
  wire: Wire,
  topics: readonly string[],
  timestamp: typeof EARLIEST | typeof LATEST,
): Promise<Map<string, number>> {
  await wire.ready();
  const byLeader = new Map<number, Place[]>();
  for (const topic of topics) {
    for (let partition = 0; partition < wire.partitions(topic); partition++) {
      const leader = wire.leaderOf(topic, partition);
      if (leader !== null) byLeader.set(leader, [...(byLeader.get(leader) ?? []), { topic, partition }]);
    }
  }
  const edges = new Map<string, number>();
  for (const [leader, places] of byLeader) {
    const broker = await wire.broker(leader);
    const asked = byTopic(places, ({ partition }) => ({ partition, timestamp }));
    const { responses } = await broker.listOffsets({ isolationLevel: READ_COMMITTED, topics: asked });
    for (const { topic, partitions } of responses)
      for (const { partition, offset } of partitions) edges.set(`${topic}/${partition}`, Number(offset));
  }
  return edges;
}

function byTopic<P extends Place, V>(places: readonly P[], make: (place: P) => V) {
  const topics = new Map<string, V[]>();
  for (const place of places) topics.set(place.topic, [...(topics.get(place.topic) ?? []), make(place)]);
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
}
