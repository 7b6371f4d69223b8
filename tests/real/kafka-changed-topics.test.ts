/** Topics that were deleted and made anew, or grown, since somebody worked with them. */
import type { Admin } from 'kafkajs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { caughtUp, counter, counts, event, everything, until, upTo } from '../../log/conformance/rig.ts';
import { clientOf, type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { type KafkaRig, kafkaRig } from '../support/kafka-rig.ts';

describe.skipIf((await noKafka()) !== null)('on a real broker', () => {
  let cluster: KafkaCluster;
  let rig: KafkaRig;
  let admin: Admin;
  beforeAll(async () => {
    cluster = await startKafka();
  });
  afterAll(async () => cluster?.stop());
  beforeEach(async () => {
    rig = await kafkaRig(cluster, { partitions: 1 });
    admin = clientOf(cluster.adminBrokers).admin();
    await admin.connect();
  });
  afterEach(async () => {
    await admin.disconnect();
    await rig.close();
  });

  async function countUpTo(n: number): Promise<void> {
    const log = await rig.open();
    const running = log.run(counter('count'));
    await log.publish(upTo(n).map((seq) => event('k', seq)));
    await caughtUp(log, 'count', 'trace.raw');
    await running.stop();
  }

  async function makeAnew(topic: string): Promise<void> {
    const there = () =>
      admin.fetchTopicOffsets(topic).then(
        () => true,
        () => false,
      );
    await admin.deleteTopics({ topics: [topic] });
    await until(async () => !(await there()));
    await admin.createTopics({ topics: [{ topic, numPartitions: 1, replicationFactor: 1 }] });
    await until(there);
  }

  test('a reducer ends when an input was made anew while it was stopped, also one that is longer than the old one was', async () => {
    await countUpTo(10);
    await makeAnew('trace.raw');
    const log = await rig.open();
    await log.publish(upTo(25).map((n) => event('k', 100 + n)));
    await expect(log.run(counter('count')).done).rejects.toMatchObject({
      code: 'topic_replaced',
      kind: 'fatal',
      message: expect.stringMatching(/^count: the offsets below 10 of trace\.raw\/0 .* replay$/),
    });
    expect(await counts(log)).toEqual({ k: upTo(10) });
  });

  test('a reducer ends when its states are gone, and makes none anew', async () => {
    await countUpTo(10);
    await makeAnew('count.state');
    for (let start = 0; start < 2; start++) {
      const log = await rig.open();
      await log.publish([event('k', 11 + start)]);
      await expect(log.run(counter('count')).done).rejects.toMatchObject({
        code: 'states_lost',
        kind: 'fatal',
        message: expect.stringMatching(
          /^count: the offsets below 10 of trace\.raw\/0 .* count\.state, .* replay$/,
        ),
      });
      expect(await counts(log)).toEqual({ k: upTo(10) });
    }
  });

  test('a reducer ends when its states were made anew while it ran, as soon as it begins anew', async () => {
    const log = await rig.open();
    const running = log.run(counter('count'));
    await log.publish([event('k', 1)]);
    await caughtUp(log, 'count', 'trace.raw');
    await makeAnew('count.state');
    await log.publish([event('k', 2)]);
    // It may notice or not: its states are in its memory.
    await Promise.race([caughtUp(log, 'count', 'trace.raw'), running.done.catch(() => undefined)]);
    await running.stop();
    await expect((await rig.open()).run(counter('count')).done).rejects.toMatchObject({
      code: 'states_lost',
    });
  });

  test('a reducer goes on from what an earlier build has written, without ids of topics, and knows them from then on', async () => {
    await countUpTo(10);
    await withoutIds();
    await countUpTo(5);
    expect(await counts(await rig.open())).toEqual({ k: upTo(15) });
    await makeAnew('trace.raw');
    await expect((await rig.open()).run(counter('count')).done).rejects.toMatchObject({
      code: 'topic_replaced',
    });
  });

  test('a publisher refuses topics that have not as many partitions each, and nothing is written', async () => {
    const two = await kafkaRig(cluster, { partitions: 2 });
    const open = await two.open();
    await open.publish([event('k', 1)]);
    const ends = async () => (await admin.fetchTopicOffsets('trace.raw')).map(({ high }) => Number(high));
    await admin.createPartitions({ topicPartitions: [{ topic: 'trace.raw', count: 3 }] });
    await until(async () => (await ends().catch(() => [])).length === 3);
    const before = await ends();
    const late = await two.open();
    await expect(late.publish(upTo(20).map((n) => event(`key-${n}`, n)))).rejects.toMatchObject({
      code: 'topic_partitions',
      kind: 'usage',
      message: expect.stringMatching(/trace\.raw has 3\b/),
    });
    expect(await ends()).toEqual(before);
    // Who has begun before goes on as it began: each key stays where it was.
    await open.publish([event('k', 2)]);
    expect((await everything(open, 'trace.raw')).map(({ value }) => value.seq)).toEqual([1, 2]);
    await two.close();
  });

  /** Forgets the ids. */
  async function withoutIds(): Promise<void> {
    const producer = clientOf(cluster.adminBrokers).producer({ allowAutoTopicCreation: false });
    await producer.connect();
    await producer.send({ topic: 'count.state', messages: [{ key: '\u0000topics trace.raw', value: null }] });
    await producer.disconnect();
  }
});
