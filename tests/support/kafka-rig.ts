/** A log on a real broker for tests: fresh topics each time, made by the same setup as in production. */
import kafkajs, { type Admin, type Kafka } from 'kafkajs';
import { everything, type Rig, until } from '../../log/conformance/rig.ts';
import { mask } from '../../log/embedded/testing.ts';
import { createClient } from '../../log/kafka/client.ts';
import { type KafkaLog, type KafkaOptions, openKafkaLog } from '../../log/kafka/open.ts';
import { openRegistry, subjectOf } from '../../log/kafka/registry/registry.ts';
import { setup } from '../../log/kafka/setup/setup.ts';
import { partitionOf } from '../../log/partition.ts';
import { TOPIC_NAMES, TOPICS, type TopicName } from '../../schemas/topics.ts';
import type { KafkaCluster } from './kafka-broker.ts';
import { sweep } from './kafka-sweep.ts';
import { startRegistry } from './registry.ts';
import type { RegistryServer } from './registry-server.ts';

const { ConfigResourceTypes, Partitioners } = kafkajs;

export interface KafkaRig extends Rig {
  registry: RegistryServer;
  partitions: number;
  open(options?: Partial<KafkaOptions>): Promise<KafkaLog>;
}

export interface KafkaRigOptions {
  partitions?: number;
  /** Groups of reducers that need a changelog. */
  groups?: readonly string[];
}

const GROUPS = ['count', 'prep', 'g'];

/** Everything that was on the cluster before is deleted. */
export async function kafkaRig(cluster: KafkaCluster, options: KafkaRigOptions = {}): Promise<KafkaRig> {
  const { partitions = 4, groups = GROUPS } = options;
  const access = { brokers: cluster.adminBrokers, tls: false };
  const client = createClient(access);
  const admin = client.admin();
  await admin.connect();
  await sweep(admin);
  const registry = await startRegistry();
  const replication = Math.min(3, cluster.nodes.length || 1);
  const prepare = () =>
    setup({
      admin,
      registry: { url: registry.url },
      groups,
      shape: { partitions, replication },
      dryRun: false,
    });
  // On a busy machine a broker may not have heard yet of the topics that its controller has just made.
  await until(() => prepare().then(yes, no));
  // A leader that does not know yet that it is one has a publisher repeat itself.
  await until(() => Promise.all(TOPIC_NAMES.map((topic) => admin.fetchTopicOffsets(topic))).then(yes, no));
  const opened: KafkaLog[] = [];
  // Some seconds pass at each look, so that a schema that is nowhere is soon given up.
  let looks = 0;
  const clock = () => ++looks * 4_000;

  const rig: KafkaRig = {
    registry,
    partitions,
    async open(more = {}) {
      const log = openKafkaLog({
        ...access,
        registry: openRegistry({ url: registry.url, clock }),
        seal: async (bytes) => mask(bytes),
        sessionMs: 3_000,
        warn: () => {},
        ...more,
      });
      opened.push(log);
      return log;
    },
    async inject(topic, key, value) {
      const producer = client.producer({ createPartitioner: () => () => partitionOf(key, partitions) });
      await producer.connect();
      await producer.send({ topic, messages: [{ key, value }] });
      await producer.disconnect();
    },
    register: (topic, schema) => registry.register(subjectOf(topic), schema),
    age: (days) => age(rig, admin, client, days),
    unseal: mask,
    async close() {
      await Promise.all(opened.map((log) => log.close()));
      await admin.disconnect();
      await registry.close();
    },
  };
  return rig;
}

const yes = () => true;
const no = () => false;

/** A broker's clock cannot be moved: what retention would delete by then is deleted, and compaction is asked for. */
async function age(rig: KafkaRig, admin: Admin, client: Kafka, days: number): Promise<void> {
  for (const topic of TOPIC_NAMES) {
    const { cleanup, retentionDays } = TOPICS[topic];
    if (cleanup !== 'delete' || retentionDays === null || retentionDays >= days) continue;
    const ends = await admin.fetchTopicOffsets(topic);
    const full = ends.filter(({ high, low }) => Number(high) > Number(low));
    if (full.length === 0) continue;
    await admin.deleteTopicRecords({
      topic,
      partitions: full.map(({ partition, high }) => ({ partition, offset: high })),
    });
  }
  const log = await rig.open();
  const before = (await everything(log, 'flip.metrics')).length;
  if (before < WORTH_COMPACTING) return;
  await compactSoon(admin, client, 'flip.metrics', rig.partitions);
  await until(async () => (await everything(log, 'flip.metrics')).length < before / 2);
}

const WORTH_COMPACTING = 1000;

async function compactSoon(admin: Admin, client: Kafka, topic: TopicName, partitions: number): Promise<void> {
  const soon = { 'segment.ms': '100', 'min.cleanable.dirty.ratio': '0.01', 'max.compaction.lag.ms': '100' };
  const configEntries = Object.entries({
    'cleanup.policy': 'compact',
    'max.message.bytes': String(16 * 2 ** 20),
    ...soon,
  }).map(([name, value]) => ({ name, value }));
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }],
  });
  // The newest segment is never compacted: an aborted transaction begins another and adds nothing.
  const producer = client.producer({
    transactionalId: 'test-roll',
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  const transaction = await producer.transaction();
  const messages = Array.from({ length: partitions }, (_, partition) => ({
    partition,
    key: 'r',
    value: 'r',
  }));
  await transaction.send({ topic, messages });
  await transaction.abort();
  await producer.disconnect();
}
