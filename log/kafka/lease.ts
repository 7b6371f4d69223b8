import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Broker } from 'kafkajs/src/cluster/index.js';
import { chunks } from './chunks.ts';
import { kafkaCode, named, unavailable } from './errors.ts';
import { type Committed, commitOf } from './offsets.ts';
import type { BrokerAccess } from './settings.ts';
import { createWire, type Wire } from './wire.ts';

const { CompressionTypes } = kafkajs;

/** A record for one partition. Without a value it says that its key is forgotten. */
export interface Placed {
  topic: string;
  partition: number;
  key: string;
  value: Buffer | null;
}

/** What becomes true together. */
interface Transaction {
  records: readonly Placed[];
  offsets?: { group: string; committed: readonly Committed[] };
}

/**
 * The right to write under a transactional id. Whoever opens it next takes it away from whoever had it, and ends
 * what that one had begun: a process that was stopped for a while and wakes up commits nothing.
 */
export interface Lease {
  /** @throws FlipstreamError `fenced`, `kafka_unavailable`, `kafka_size_refused`; then the outcome is unknown, and the lease is of no more use */
  commit(transaction: Transaction): Promise<void>;
  close(): Promise<void>;
}

/** What the broker grants a transaction that says nothing more. */
const TRANSACTION_MS = 60_000;
const PRODUCE_MS = 20_000;
const ALL_IN_SYNC = -1;
/** Below this a batch does not get smaller by being compressed. */
const WORTH_COMPRESSING = 512;

/** @throws FlipstreamError as `commit` */
export async function openLease(access: BrokerAccess, transactionalId: string): Promise<Lease> {
  const wire = createWire(access);
  try {
    const { coordinator, producerId, producerEpoch } = await whileBusy(async () => {
      const found = await wire.transactionCoordinator(transactionalId);
      const given = await found.initProducerId({ transactionalId, transactionTimeout: TRANSACTION_MS });
      return { coordinator: found, ...given };
    }, OPENING);
    return leaseOver(wire, coordinator, { transactionalId, producerId, producerEpoch });
  } catch (error) {
    await wire.close();
    throw named(error, wire.brokers);
  }
}

interface Identity {
  transactionalId: string;
  producerId: string;
  producerEpoch: number;
}

type Message = Pick<Placed, 'key' | 'value'>;

const sizeOf = ({ value }: Placed) => value?.length ?? 0;

function leaseOver(wire: Wire, coordinator: Broker, identity: Identity): Lease {
  const sequences = new Map<string, number>();

  async function produce(records: readonly Placed[]): Promise<void> {
    const byLeader = new Map<number, Map<string, Placed[]>>();
    for (const record of records) {
      const leader = wire.leaderOf(record.topic, record.partition);
      if (leader === null)
        throw unavailable(`${record.topic}/${record.partition} has no leader`, wire.brokers);
      const places = byLeader.get(leader) ?? new Map<string, Placed[]>();
      byLeader.set(leader, places);
      const place = `${record.topic}/${record.partition}`;
      const there = places.get(place);
      if (there) there.push(record);
      else places.set(place, [record]);
    }
    await Promise.all([...byLeader].map(([leader, places]) => produceTo(leader, [...places.values()])));
  }

  /** Batches of one partition one after another: a gap in their sequence would be refused. */
  async function produceTo(leader: number, places: readonly Placed[][]): Promise<void> {
    const broker = await wire.broker(leader);
    const batches = places.map((records) => chunks(records, sizeOf));
    for (let round = 0; batches.some((one) => one.length > round); round++) {
      const now = batches.map((one) => one[round] ?? []).filter((batch) => batch.length > 0);
      const bytes = now.flat().reduce((sum, record) => sum + sizeOf(record), 0);
      await broker.produce({
        ...identity,
        topicData: dataOf(now),
        acks: ALL_IN_SYNC,
        timeout: PRODUCE_MS,
        compression: bytes >= WORTH_COMPRESSING ? CompressionTypes.ZSTD : CompressionTypes.None,
      });
    }
  }

  function dataOf(batches: readonly Placed[][]) {
    const topics = new Map<string, { partition: number; firstSequence: number; messages: Message[] }[]>();
    for (const batch of batches) {
      const { topic = '', partition = 0 } = batch[0] ?? {};
      const place = `${topic}/${partition}`;
      const firstSequence = sequences.get(place) ?? 0;
      sequences.set(place, firstSequence + batch.length);
      const messages = batch.map(({ key, value }) => ({ key, value }));
      topics.set(topic, [...(topics.get(topic) ?? []), { partition, firstSequence, messages }]);
    }
    return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
  }

  async function commitOffsets({ group, committed }: NonNullable<Transaction['offsets']>): Promise<void> {
    await whileBusy(() => coordinator.addOffsetsToTxn({ ...identity, groupId: group }));
    const groupCoordinator = await wire.groupCoordinator(group);
    const topics = commitOf(committed);
    await groupCoordinator.txnOffsetCommit({ ...identity, groupId: group, topics });
  }

  return {
    async commit({ records, offsets }) {
      if (records.length === 0 && !offsets) return;
      try {
        if (records.length > 0) {
          const topics = partitionsOf(records);
          await wire.watch(topics.map(({ topic }) => topic));
          await whileBusy(() => coordinator.addPartitionsToTxn({ ...identity, topics }));
        }
        await Promise.all([produce(records), offsets ? commitOffsets(offsets) : null]);
        await coordinator.endTxn({ ...identity, transactionResult: true });
      } catch (error) {
        throw named(error, wire.brokers);
      }
    },
    close: () => wire.close(),
  };
}

function partitionsOf(records: readonly Placed[]) {
  const topics = new Map<string, Set<number>>();
  for (const { topic, partition } of records)
    topics.set(topic, (topics.get(topic) ?? new Set()).add(partition));
  return [...topics].map(([topic, partitions]) => ({ topic, partitions: [...partitions] }));
}

const FIRST_PAUSE_MS = 1;
const LAST_PAUSE_MS = 20;
const PATIENCE_MS = 30_000;

/** The last transaction of an id may still be ending: the answer comes before its markers are written. */
const ENDING: ReadonlySet<string | null> = new Set(['CONCURRENT_TRANSACTIONS']);
/** And a young cluster may not know yet who keeps an id. */
const OPENING: typeof ENDING = new Set([
  ...ENDING,
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
]);

async function whileBusy<T>(ask: () => Promise<T>, busy = ENDING): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
    try {
      return await ask();
    } catch (error) {
      if (!busy.has(kafkaCode(error)) || performance.now() > until) throw error;
      await sleep(pause);
    }
  }
}
