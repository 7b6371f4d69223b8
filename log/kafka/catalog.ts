import { FlipstreamError } from '../../schemas/errors.ts';
import { TOPIC_NAMES } from '../../schemas/topics.ts';
import { kafkaCode, named, notAllowed } from './errors.ts';
import { type DescribedCluster, type DescribedTopic, describe, tellsIds } from './topic-ids.ts';
import { relearning, type Wire } from './wire.ts';

interface KnownTopic {
  /** Of cluster and topic: a topic made anew, or one of another cluster, has another. */
  id: string;
  partitions: number;
}

/** The topics, each looked up when it is first used: a user may be allowed to see only some. */
export interface Catalog {
  /** As it was when first asked. @throws FlipstreamError `topic_missing`, `kafka_not_allowed` (usage), and what `named` makes */
  topic(name: string): Promise<KnownTopic>;
  /** Number of partitions of topics that are worked on together. @throws FlipstreamError `topic_partitions` (usage), and as `topic` */
  together(names: readonly string[]): Promise<number>;
  /**
   * For whoever writes: looks at all topics that this user may see, and gives the number of partitions of each.
   * @throws FlipstreamError `topic_partitions` (usage) when not all have as many, since records of one key would part
   */
  forWriting(): Promise<(name: string) => Promise<number>>;
  /** Id of a topic as it is now; null when there is none. */
  idNow(name: string): Promise<string | null>;
}

const NOT_ALLOWED = 29;
/** Kafka's numbers of what kafkajs names when it cannot tell of a topic. */
const UNSEEN: Readonly<Record<string, number>> = {
  UNKNOWN_TOPIC_OR_PARTITION: 3,
  TOPIC_AUTHORIZATION_FAILED: NOT_ALLOWED,
};

/** Topic of a group's changelog. */
export function changelogOf(group: string): string {
  return `${group}.state`;
}

export function createCatalog(wire: Wire): Catalog {
  const known = new Map<string, KnownTopic>();

  async function lookUp(name: string): Promise<KnownTopic | null> {
    const { id, topics } = await ask(wire, [name]);
    const found = topics.get(name);
    if (found?.error === NOT_ALLOWED) throw notAllowed(`seeing ${name}`, wire.brokers);
    if (!found || found.partitions === 0) return null;
    return { id: `${id}/${found.id}`, partitions: found.partitions };
  }

  async function topic(name: string): Promise<KnownTopic> {
    const before = known.get(name);
    if (before) return before;
    const found = await lookUp(name);
    if (!found)
      throw new FlipstreamError(
        'topic_missing',
        'usage',
        `Kafka at ${wire.brokers.join(', ')} has no topic ${name}, or this user may not see it: run flipstream kafka setup`,
      );
    known.set(name, found);
    return found;
  }

  return {
    topic,
    async together(names) {
      const counts = new Map<string, number>();
      for (const name of names) counts.set(name, (await topic(name)).partitions);
      refuseUneven(counts);
      return counts.get(names[0] ?? '') ?? 0;
    },
    async forWriting() {
      const { topics } = await ask(wire, TOPIC_NAMES);
      const seen = [...topics].filter(([, { partitions }]) => partitions > 0);
      const counts = new Map(seen.map(([name, { partitions }]) => [name, partitions]));
      refuseUneven(counts);
      return async (name) => counts.get(name) ?? (await topic(name)).partitions;
    },
    idNow: async (name) => (await lookUp(name))?.id ?? null,
  };
}

function refuseUneven(counts: ReadonlyMap<string, number>): void {
  if (new Set(counts.values()).size <= 1) return;
  throw new FlipstreamError(
    'topic_partitions',
    'usage',
    `topics that are joined need as many partitions each, and ${Array.from(counts, ([name, count]) => `${name} has ${count}`).join(', ')}: make them anew with flipstream kafka setup`,
  );
}

async function ask(wire: Wire, names: readonly string[]): Promise<DescribedCluster> {
  try {
    const described = await relearning(wire, async () => {
      const broker = await wire.any();
      return tellsIds(broker) ? describe(broker, names) : null;
    });
    if (described) return described;
    const topics = new Map<string, DescribedTopic>();
    for (const name of names) topics.set(name, await withoutId(wire, name));
    return { id: wire.clusterId(), topics };
  } catch (error) {
    throw named(error, wire.brokers);
  }
}

async function withoutId(wire: Wire, name: string): Promise<DescribedTopic> {
  try {
    await wire.watch([name]);
    return { error: 0, id: '', partitions: wire.partitions(name) };
  } catch (raw) {
    const error = UNSEEN[kafkaCode(raw) ?? ''];
    if (error === undefined) throw raw;
    return { error, id: '', partitions: 0 };
  }
}
