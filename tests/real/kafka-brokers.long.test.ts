/** Three brokers, of which one dies in the middle of transactions, and partitions that get another leader. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { caughtUp, counter, counts, event, everything, until, upTo } from '../../log/conformance/rig.ts';
import type { KafkaLog } from '../../log/kafka/open.ts';
import { retryAfter } from '../../log/running.ts';
import { clientOf, type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { type KafkaRig, kafkaRig } from '../support/kafka-rig.ts';

const PARTITIONS = 3;
const BATCH = 50;

describe.skipIf((await noKafka()) !== null)('three brokers', () => {
  let cluster: KafkaCluster;
  let rig: KafkaRig;
  let admin: Admin;
  beforeAll(async () => {
    cluster = await startKafka({ count: 3 });
    admin = clientOf(cluster.adminBrokers).admin();
    await admin.connect();
  });
  afterAll(async () => {
    await admin?.disconnect();
    await cluster?.stop();
  });
  beforeEach(async () => {
    rig = await kafkaRig(cluster, { partitions: PARTITIONS });
  });
  afterEach(async () => rig.close());

  /** Publishes as a spool does, one small batch after another: again until it is taken. */
  async function insist(log: KafkaLog, numbers: readonly number[]): Promise<void> {
    for (const n of numbers)
      for (let failures = 1; ; failures++) {
        try {
          await log.publish(upTo(3).map((key) => event(`key-${key}`, n)));
          break;
        } catch (error) {
          expect(error).toMatchObject({ kind: 'retryable', code: 'kafka_unavailable' });
          await sleep(retryAfter(failures));
        }
      }
  }

  /** Each record that is in the log was counted once, and each that was published is in the log. */
  async function allCounted(log: KafkaLog, numbers: readonly number[]): Promise<void> {
    await caughtUp(log, 'count', 'trace.raw');
    const records = await everything(log, 'trace.raw');
    const byKey = Map.groupBy(records, ({ key }) => key);
    const counted = await counts(log);
    for (const [key, all] of byKey) {
      expect(new Set(all.map(({ value }) => value.seq)), key).toEqual(new Set(numbers));
      expect(counted[key], key).toEqual(upTo(all.length));
    }
    expect(await everything(log, 'deadletter')).toEqual([]);
  }

  test('P1 P3 a broker is killed in the middle of transactions and comes back: none is half, none is done twice', async ({
    skip,
  }) => {
    skip(cluster.nodes.length === 0, 'these brokers are not ours to kill');
    const log = await rig.open();
    const running = log.run(counter('count'));
    const publishing = insist(log, upTo(1_500));
    let failed = 0;
    for (const node of cluster.nodes) {
      const before = log.counters().published['flip.metrics.deltas'] ?? 0;
      // Transactions follow one another: at whatever moment it dies, some of its partitions are in one.
      await until(() => (log.counters().published['flip.metrics.deltas'] ?? 0) > before + 30);
      await node.kill();
      await node.start();
      failed = log.counters().transactionFailures;
    }
    await publishing;
    await allCounted(log, upTo(1_500));
    await running.stop();
    expect(failed).toBeGreaterThan(0);
  }, 300_000);

  test('P1 brokers die while records are published: what was acknowledged is in the log', async ({
    skip,
  }) => {
    skip(cluster.nodes.length === 0, 'these brokers are not ours to kill');
    const log = await rig.open();
    const acknowledged: number[] = [];
    let over = false;
    const publishing = (async () => {
      for (let first = 0; !over; first += BATCH) {
        const numbers = upTo(BATCH).map((n) => first + n);
        const batch = numbers.map((n) => event(`key-${n % BATCH}`, n));
        await log.publish(batch).then(
          () => acknowledged.push(...numbers),
          (error: unknown) => expect(error).toMatchObject({ code: 'kafka_unavailable' }),
        );
      }
    })();
    for (const node of [...cluster.nodes, ...cluster.nodes]) {
      const before = acknowledged.length;
      await until(() => acknowledged.length > before + 10 * BATCH);
      await node.kill();
      await node.start();
    }
    over = true;
    await publishing;
    const there = new Set((await everything(log, 'trace.raw')).map(({ value }) => value.seq));
    expect(acknowledged.filter((n) => !there.has(n))).toEqual([]);
  }, 300_000);

  test('P3 every partition gets another leader while it is written and read', async ({ skip }) => {
    skip(cluster.nodes.length === 0, 'these brokers are not ours');
    const log = await rig.open();
    const seen: number[] = [];
    const running = log.run(counter('count'));
    const reading = log.consume({
      group: 'g',
      topics: ['trace.raw'],
      onBatch: async ({ records }) => void seen.push(...records.map((one) => one.value.seq)),
    });
    const publishing = insist(log, upTo(800));
    const topics = ['trace.raw', 'flip.metrics.deltas', 'count.state'];
    const before = await leaders(topics);
    await until(() => seen.length > 100);
    await admin.alterPartitionReassignments({
      topics: topics.map((topic) => ({
        topic,
        partitionAssignment: upTo(PARTITIONS).map((n) => ({
          partition: n - 1,
          replicas: [1, 2, 3].filter((id) => id !== before.get(`${topic}/${n - 1}`)),
        })),
      })),
    });
    await until(async () => {
      const now = await leaders(topics);
      return [...before].every(([place, leader]) => now.get(place) !== leader);
    });
    // Dealt anew, its states are read from whoever leads now; nothing else of this process has asked who that is.
    await running.stop();
    const again = log.run(counter('count'));
    await publishing;
    await allCounted(await rig.open(), upTo(800));
    await until(() => new Set(seen).size === 800);
    await Promise.all([again.stop(), reading.stop()]);
  }, 300_000);

  async function leaders(topics: string[]): Promise<Map<string, number>> {
    const { topics: told } = await admin.fetchTopicMetadata({ topics });
    return new Map(
      told.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionId, leader }) => [`${name}/${partitionId}`, leader] as const),
      ),
    );
  }
});
