/** What a cluster can do to us: each bad day ends with nothing lost, or with a sentence to act on. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openLetters } from '../../cli/deadletter/letters.ts';
import { putBack } from '../../cli/deadletter/put-back.ts';
import { caughtUp, counter, counts, event, everything, until, upTo } from '../../log/conformance/rig.ts';
import { frame } from '../../log/framing.ts';
import { openKafkaLog } from '../../log/kafka/open.ts';
import { openRegistry } from '../../log/kafka/registry/registry.ts';
import { partitionOf } from '../../log/partition.ts';
import { encode, schemaText } from '../../schemas/codec.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { clientOf, type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { type KafkaRig, kafkaRig } from '../support/kafka-rig.ts';

describe.skipIf((await noKafka()) !== null)('bad days of a cluster', () => {
  let cluster: KafkaCluster;
  let rig: KafkaRig;
  beforeAll(async () => {
    cluster = await startKafka();
  });
  afterAll(async () => cluster?.stop());
  beforeEach(async () => {
    rig = await kafkaRig(cluster, { partitions: 2 });
  });
  afterEach(async () => rig.close());

  /** Publishes as a spool does: again until it is taken. @param failed told of each time it was not */
  async function insist(
    log: Awaited<ReturnType<KafkaRig['open']>>,
    numbers: readonly number[],
    failed: () => void = () => {},
  ): Promise<void> {
    for (;;) {
      try {
        return await log.publish(numbers.map((n) => event('k', n)));
      } catch (error) {
        expect(error).toMatchObject({ kind: 'retryable', code: 'kafka_unavailable' });
        failed();
      }
    }
  }

  test('P1 the broker is gone and comes back: publishers are told, readers and reducers wait, nothing is lost', async ({
    skip,
  }) => {
    const [node] = cluster.nodes;
    if (!node) return skip('these brokers are not ours to kill');
    const log = await rig.open();
    const seen: number[] = [];
    const running = log.run(counter('count'));
    const reading = log.consume({
      group: 'g',
      topics: ['trace.raw'],
      onBatch: async ({ records }) => void seen.push(...records.map((one) => one.value.seq)),
    });
    await insist(log, upTo(20));
    await caughtUp(log, 'count', 'trace.raw');
    await node.kill();
    const failed = Promise.withResolvers<void>();
    const published = insist(log, [21, 22], failed.resolve);
    await failed.promise;
    await node.start();
    await published;
    await caughtUp(log, 'count', 'trace.raw');
    await until(() => seen.includes(22));
    await Promise.all([running.stop(), reading.stop()]);
    const records = await everything(log, 'trace.raw');
    expect(new Set(records.map((one) => one.value.seq))).toEqual(new Set(upTo(22)));
    expect(await counts(log)).toEqual({ k: upTo(records.length) });
    expect(await everything(log, 'deadletter')).toEqual([]);
  });

  test('P1 registry trouble at the start and in the middle is waited out, and no record is poison for it', async () => {
    const writer = await rig.open();
    await writer.publish(upTo(5).map((n) => event('k', n)));
    rig.registry.trouble = 'unavailable';
    const log = await rig.open();
    await expect(log.publish([event('k', 0)])).rejects.toMatchObject({ code: 'registry_unavailable' });
    const asked = rig.registry.requests.length;
    const running = log.run(counter('count'));
    await until(() => rig.registry.requests.length > asked);
    rig.registry.trouble = 'none';
    await caughtUp(log, 'count', 'trace.raw');
    rig.registry.trouble = 'proxy-404';
    await writer.publish([event('k', 6)]);
    await caughtUp(log, 'count', 'trace.raw');
    await running.stop();
    rig.registry.trouble = 'none';
    expect(await counts(log)).toEqual({ k: upTo(6) });
    expect(await everything(log, 'deadletter')).toEqual([]);
  });

  test.each(['unavailable', 'proxy-404'] as const)(
    'P1 the registry is in trouble (%s) just when a writer\u2019s schema is met for the first time: its partition waits, another goes on',
    async (trouble) => {
      const told = new Set<string>();
      const log = await rig.open({
        warn: (message, error) => {
          if (error instanceof FlipstreamError && error.code === 'registry_unavailable') told.add(message);
        },
      });
      const keyIn = (partition: number) =>
        upTo(99)
          .map(String)
          .find((key) => partitionOf(key, 2) === partition);
      const [waiting = '', other = ''] = [0, 1].map(keyIn);
      const publish = (seq: number) => log.publish([event(other, seq)]);
      const seen: string[] = [];
      const running = [
        log.run(counter('count')),
        log.consume({
          group: 'g',
          topics: ['trace.raw'],
          onBatch: async ({ records }) =>
            void seen.push(...records.map(({ key, value }) => `${key}:${value.seq}`)),
        }),
      ];
      await publish(1);
      await log.publish([event(waiting, 1)]);
      for (const group of ['count', 'g']) await caughtUp(log, group, 'trace.raw');
      expect(await counts(log)).toEqual({ [waiting]: [1], [other]: [1] });
      const elsewhere = schemaText('TraceEvent').replace('"doc":"', '"doc":"Of another writer. ');
      const id = await rig.register('trace.raw', elsewhere);
      rig.registry.trouble = trouble;
      await rig.inject('trace.raw', waiting, frame(id, encode('TraceEvent', event(waiting, 2).value)));
      await until(() => told.size === 2);
      expect([...told].sort()).toEqual(['count: partition 0 of trace.raw waits', 'g: trace.raw/0 waits']);
      for (const seq of [2, 3]) {
        await publish(seq);
        await until(
          async () => (await counts(log))[other]?.at(-1) === seq && seen.includes(`${other}:${seq}`),
        );
      }
      expect(seen).not.toContain(`${waiting}:2`);
      expect(await counts(log)).toEqual({ [waiting]: [1], [other]: [1, 2, 3] });
      rig.registry.trouble = 'none';
      for (const group of ['count', 'g']) await caughtUp(log, group, 'trace.raw');
      await Promise.all(running.map((one) => one.stop()));
      expect(seen).toContain(`${waiting}:2`);
      expect(await counts(log)).toEqual({ [waiting]: [1, 2], [other]: [1, 2, 3] });
      expect(await everything(log, 'deadletter')).toEqual([]);
    },
  );

  test('a topic is missing, or has another number of partitions: refused before anything is written', async () => {
    const admin = clientOf(cluster.adminBrokers).admin();
    await admin.connect();
    const log = await rig.open();
    await log.publish([event('k', 1)]);
    await admin.createPartitions({ topicPartitions: [{ topic: 'count.state', count: 3 }] });
    const led = (ends: readonly unknown[]) => ends.length === 3;
    // Until a new partition has a leader, nobody tells where it ends.
    await until(() => admin.fetchTopicOffsets('count.state').then(led, () => false));
    await expect((await rig.open()).run(counter('count')).done).rejects.toMatchObject({
      code: 'topic_partitions',
      kind: 'usage',
      message: expect.stringContaining('count.state has 3'),
    });
    await admin.deleteTopics({ topics: ['trace.raw'] });
    await until(async () => !(await admin.listTopics()).includes('trace.raw'));
    const late = await rig.open();
    for (const refused of [() => late.publish([event('k', 2)]), () => late.run(counter('g')).done])
      await expect(refused()).rejects.toMatchObject({
        code: 'topic_missing',
        message: expect.stringContaining('flipstream kafka setup'),
      });
    await admin.disconnect();
    expect(await everything(log, 'flip.metrics.deltas')).toEqual([]);
  });

  test('a record that no topic would take becomes a dead letter with its hash; those around it go on', async () => {
    const log = await rig.open();
    await log.publish([event('k', 1), event('k', 2, 'x'.repeat(9 * 2 ** 20)), event('k', 3)]);
    expect((await everything(log, 'trace.raw')).map((one) => one.value.seq)).toEqual([1, 3]);
    const [letter] = await everything(log, 'deadletter');
    expect(letter?.value).toMatchObject({
      reason: 'record_too_large',
      source_topic: 'trace.raw',
      key: 'k',
      content: null,
    });
    expect(letter?.value.value_hash).toMatch(/^[0-9a-f]{64}$/);
  });

  test('P3 what a group had committed is forgotten by the brokers: its states know where they were', async () => {
    const log = await rig.open();
    const first = log.run(counter('count'));
    await log.publish(upTo(10).map((n) => event('k', n)));
    await caughtUp(log, 'count', 'trace.raw');
    await first.stop();
    const admin = clientOf(cluster.adminBrokers).admin();
    await admin.connect();
    await admin.deleteGroups(['count']);
    await admin.disconnect();
    const again = (await rig.open()).run(counter('count'));
    await log.publish(upTo(5).map((n) => event('k', 10 + n)));
    await caughtUp(log, 'count', 'trace.raw');
    await again.stop();
    expect(await counts(log)).toEqual({ k: upTo(15) });
  });

  test('P2 two who put the same dead letter back at once put it back once', async () => {
    const logs = [await rig.open(), await rig.open()] as const;
    await rig.inject('trace.raw', 'k', Buffer.from([1, 2]));
    const running = logs[0].run(counter('count'));
    await caughtUp(logs[0], 'count', 'trace.raw');
    await running.stop();
    const tries = logs.map(async (log) => {
      const letters = await openLetters(log);
      const [id = ''] = letters.all().map((letter) => letter.id);
      return putBack(log, { letters, id }, null, Date.now);
    });
    const ended = (await Promise.allSettled(tries)).map(({ status }) => status);
    expect(ended.sort()).toEqual(['fulfilled', 'rejected']);
    const states = (await openLetters(logs[0])).all().map(({ state }) => state);
    expect(states).toEqual(['put_back']);
    const receipts = await everything(logs[0], 'deadletter');
    expect(receipts.filter(({ value }) => value.reason === 'put_back')).toHaveLength(1);
  });

  test('a wrong password is told in a sentence', async ({ skip }) => {
    skip(cluster.nodes.length === 0, 'these brokers are not ours: others are needed, with passwords');
    const secured = await startKafka({ scram: { someone: 'right' } });
    const log = openKafkaLog({
      brokers: secured.brokers,
      tls: false,
      sasl: { mechanism: 'scram-sha-512', username: 'someone', password: 'wrong' },
      registry: openRegistry({ url: rig.registry.url }),
    });
    await expect(log.publish([event('k', 1)])).rejects.toMatchObject({
      code: 'kafka_login_refused',
      kind: 'usage',
    });
    await expect(log.run(counter('count')).done).rejects.toMatchObject({ code: 'kafka_login_refused' });
    await log.close();
    await secured.stop();
  });
});
