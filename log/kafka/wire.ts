import type Cluster from 'kafkajs/src/cluster/index.js';
import type { Broker } from 'kafkajs/src/cluster/index.js';
import { createCluster } from './client.ts';
import { named, unavailable } from './errors.ts';
import type { BrokerAccess } from './settings.ts';

/** Connections to a cluster that are made when they are needed, and made anew when they have failed. */
export interface Wire {
  readonly brokers: readonly string[];
  /** Connects and learns where the partitions lead. @throws FlipstreamError of `named` */
  ready(): Promise<void>;
  /** As `ready`, for more topics; also where somebody else has just begun to watch them. */
  watch(topics: readonly string[]): Promise<void>;
  /** Learns again where the partitions lead; when even that fails, everything is connected anew. */
  refresh(): Promise<void>;
  /** Id of the broker that leads a partition; null while there is none. */
  leaderOf(topic: string, partition: number): number | null;
  /** Number of partitions of a topic; 0 when it is unknown. */
  partitions(topic: string): number;
  broker(id: number): Promise<Broker>;
  /** The broker that leads a partition. */
  leader(topic: string, partition: number): Promise<Broker>;
  /** The controller, for what any broker can tell. */
  any(): Promise<Broker>;
  groupCoordinator(group: string): Promise<Broker>;
  transactionCoordinator(transactionalId: string): Promise<Broker>;
  clusterId(): string;
  /** What is asked from then on is refused: kafkajs would connect anew. */
  close(): Promise<void>;
}

const TRANSACTION = 1;

/**
 * Does it; where it fails, what is known of the cluster is asked anew for the next try: a partition may have another
 * leader by now, and who led it says so to every request, for ever.
 */
export async function relearning<T>(wire: Wire, job: () => Promise<T>): Promise<T> {
  try {
    return await job();
  } catch (error) {
    await wire.refresh();
    throw error;
  }
}

/** @param topics those that are asked about from the beginning. */
export function createWire(access: BrokerAccess, topics: readonly string[] = []): Wire {
  const { brokers } = access;
  const watched = new Set(topics);
  let cluster = createCluster(access);
  let opened: Promise<void> | null = null;
  let closed = false;

  async function open(): Promise<void> {
    await cluster.connect();
    await cluster.addMultipleTargetTopics([...watched]);
  }

  /** What is still under way may take long to be given up: it is not waited for. */
  function drop(): void {
    opened = null;
    cluster.disconnect().catch(() => undefined);
    cluster = createCluster(access);
  }

  async function ready(): Promise<void> {
    if (closed) throw unavailable('the connections were closed', brokers);
    const opening = opened ?? open();
    opened = opening;
    try {
      await opening;
    } catch (error) {
      if (opened === opening) drop();
      throw named(error, brokers);
    }
  }

  async function ask<T>(question: (of: Cluster) => Promise<T>): Promise<T> {
    await ready();
    return question(cluster);
  }

  async function watch(more: readonly string[]): Promise<void> {
    await ready();
    const of = cluster;
    const known = () => more.every((topic) => of.findTopicPartitionMetadata(topic).length > 0);
    try {
      if (known()) return;
      await of.addMultipleTargetTopics([...more]);
      // What was under way already for someone else was asked without them.
      if (!known()) await of.refreshMetadata();
    } catch (error) {
      throw named(error, brokers);
    }
    for (const topic of more) watched.add(topic);
  }

  function leaderOf(topic: string, partition: number): number | null {
    const found = cluster.findTopicPartitionMetadata(topic).find((one) => one.partitionId === partition);
    return found && found.leader >= 0 ? found.leader : null;
  }

  return {
    brokers,
    ready,
    watch,
    leaderOf,
    async leader(topic, partition) {
      await watch([topic]);
      const nodeId = leaderOf(topic, partition);
      if (nodeId === null) throw unavailable(`${topic}/${partition} has no leader`, brokers);
      return cluster.findBroker({ nodeId });
    },
    async refresh() {
      try {
        await ask((of) => of.refreshMetadata());
      } catch {
        drop();
      }
    },
    partitions: (topic) => cluster.findTopicPartitionMetadata(topic).length,
    broker: (nodeId) => ask((of) => of.findBroker({ nodeId })),
    any: () => ask((of) => of.findBroker({ nodeId: of.brokerPool.metadata?.controllerId ?? -1 })),
    groupCoordinator: (groupId) => ask((of) => of.findGroupCoordinator({ groupId })),
    transactionCoordinator: (groupId) =>
      ask((of) => of.findGroupCoordinator({ groupId, coordinatorType: TRANSACTION })),
    clusterId: () => cluster.brokerPool.metadata?.clusterId ?? '',
    async close() {
      closed = true;
      const last = cluster;
      // Connecting that is under way is not waited for, and ends when it is done.
      opened?.then(() => last.disconnect()).catch(() => undefined);
      await last.disconnect().catch(() => undefined);
    },
  };
}
