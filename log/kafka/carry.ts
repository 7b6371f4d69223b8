/** Fills a cluster with what another log held: each record once, however often the carrying is begun again. */
import { FlipstreamError } from '../../schemas/errors.ts';
import type { TopicName } from '../../schemas/topics.ts';
import { encodeRecords } from '../encode.ts';
import type { Outgoing } from '../log.ts';
import { partitionOf } from '../partition.ts';
import { changelogOf, createCatalog } from './catalog.ts';
import { RECORD_BYTES } from './core.ts';
import { named } from './errors.ts';
import { type Lease, openLease, type Placed } from './lease.ts';
import { boundsOf, type Committed, committedOf } from './offsets.ts';
import type { Registry } from './registry/registry.ts';
import { createSchemas } from './schemas.ts';
import type { BrokerAccess } from './settings.ts';
import { createWire } from './wire.ts';

export interface CarryOptions {
  access: BrokerAccess;
  registry: Registry;
  /** Id of the log that is carried; under it the cluster keeps how far that has come. */
  from: string;
  topics: readonly TopicName[];
  /** Partitions of the log that is carried. */
  partitions: number;
  /** Reducer whose states are carried too. */
  group: string;
}

/**
 * How far each partition of the source has come is committed in the transaction of its records, as the offset of
 * a group of its own: whoever begins again goes on there, and of two at once one is fenced.
 * Errors of every call: those of log/kafka/errors.ts and of the registry.
 */
export interface Carrier {
  /** The source's offset to go on from. */
  next(topic: TopicName, partition: number): Promise<number>;
  /** @param next the source's offset after these records */
  carry(topic: TopicName, partition: number, records: readonly Outgoing[], next: number): Promise<void>;
  /** Frozen states of the reducer by record key; once they are there, they are never written again. */
  carryStates(states: ReadonlyMap<string, string>): Promise<void>;
  close(): Promise<void>;
}

const TRANSACTIONAL_ID = 'carry';

/** @throws FlipstreamError `carry_not_fresh`, `carry_partitions` (usage), `topic_missing`, `topic_partitions` */
export async function openCarrier(options: CarryOptions): Promise<Carrier> {
  const { access, registry, from, topics, group } = options;
  const wire = createWire(access);
  const catalog = createCatalog(wire);
  const schemas = createSchemas(registry);
  const changelog = changelogOf(group);
  const progress = `carried-from-${from}`;
  let partitions: number;
  let lease: Lease;

  async function at(topic: string, partition: number): Promise<number> {
    const [found] = await committedOf(wire, progress, [{ topic, partition }]);
    return found?.offset ?? -1;
  }

  async function write(by: Lease, records: readonly Placed[], done: Committed): Promise<void> {
    await by.commit({ records, offsets: { group: progress, committed: [done] } });
  }

  async function refuseUsed(): Promise<void> {
    for (let partition = 0; partition < partitions; partition++) {
      // The states go first: who has them has begun.
      if ((await at(changelog, partition)) >= 0) return;
      for (const topic of topics) {
        const { end } = await boundsOf(wire, topic, partition);
        if (end > 0) throw notFresh(topic, wire.brokers);
      }
    }
  }

  try {
    partitions = await catalog.together([...topics, changelog]);
    if (partitions < options.partitions) throw tooFew(partitions, options.partitions);
    await schemas.readyToWrite();
    // First: it ends what one that was killed had begun, and only then can be seen how far that came.
    lease = await openLease(access, TRANSACTIONAL_ID);
  } catch (error) {
    await wire.close();
    throw named(error, access.brokers);
  }
  const close = async () => void (await Promise.all([lease.close(), wire.close()]));
  try {
    await refuseUsed();
  } catch (error) {
    await close();
    throw named(error, access.brokers);
  }

  return {
    next: async (topic, partition) => Math.max(await at(topic, partition), 0),
    async carry(topic, partition, records, next) {
      // What is sealed in the source stays as it is.
      const seal = async (bytes: Buffer) => bytes;
      const encoded = await encodeRecords(records, { ids: schemas.ids, seal, most: RECORD_BYTES });
      const placed = encoded.map((one) => ({ ...one, partition: partitionOf(one.key, partitions) }));
      await write(lease, placed, { topic, partition, offset: next, letters: 0 });
    },
    async carryStates(states) {
      const byPartition = Map.groupBy(states, ([key]) => partitionOf(key, partitions));
      for (let partition = 0; partition < partitions; partition++) {
        if ((await at(changelog, partition)) >= 0) continue;
        const placed = (byPartition.get(partition) ?? []).map(([key, text]) => ({
          topic: changelog,
          partition,
          key,
          value: Buffer.from(text),
        }));
        // The reducer's own lease: one that runs already has to read its states again.
        const reducers = await openLease(access, `${group}-${partition}`);
        const done = { topic: changelog, partition, offset: 1, letters: 0 };
        await write(reducers, placed, done).finally(() => reducers.close());
      }
    },
    close,
  };
}

function notFresh(topic: string, brokers: readonly string[]): FlipstreamError {
  return new FlipstreamError(
    'carry_not_fresh',
    'usage',
    `Kafka at ${brokers.join(', ')} holds records of ${topic} that are not of this log: a log moves onto a cluster that nobody has used yet`,
  );
}

function tooFew(there: number, needed: number): FlipstreamError {
  return new FlipstreamError(
    'carry_partitions',
    'usage',
    `the cluster's topics have ${there} partitions, and this log has ${needed}: make them anew with flipstream kafka setup --partitions ${needed}, or more`,
  );
}
