import { FlipstreamError } from '../../schemas/errors.ts';
import { named, notAllowed } from './errors.ts';
import { type DescribedCluster, describe, tellsIds } from './topic-ids.ts';
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
  /** Id of a topic as it is now; null when there is none. */
  idNow(name: string): Promise<string | null>;
}

/** TOPIC_AUTHORIZATION_FAILED */
const NOT_ALLOWED = 29;

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
      const counts = await Promise.all(names.map(async (name) => (await topic(name)).partitions));
      const [first = 0] = counts;
      if (counts.some((count) => count !== first))
        throw new FlipstreamError(
          'topic_partitions',
          'usage',
          `topics that are joined need as many partitions each, and ${names.map((name, at) => `${name} has ${counts[at]}`).join(', ')}: make them anew with flipstream kafka setup`,
        );
      return first;
    },
    idNow: async (name) => (await lookUp(name))?.id ?? null,
  };
}

async function ask(wire: Wire, names: readonly string[]): Promise<DescribedCluster> {
  try {
    const described = await relearning(wire, async () => {
      const broker = await wire.any();
      return tellsIds(broker) ? describe(broker, names) : null;
    });
    if (described) return described;
    await wire.watch(names);
    const topics = new Map(
      names.map((name) => [name, { error: 0, id: '', partitions: wire.partitions(name) }] as const),
    );
    return { id: wire.clusterId(), topics };
  } catch (error) {
    throw named(error, wire.brokers);
  }
}
