/** The suite that every engine of the log passes, on a real broker. */
import { randomBytes } from 'node:crypto';
import kafkajs from 'kafkajs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { originalBytes } from '../../cli/deadletter/bytes.ts';
import { openLetters } from '../../cli/deadletter/letters.ts';
import { putBack } from '../../cli/deadletter/put-back.ts';
import {
  caughtUp,
  counter,
  counts,
  event,
  everything,
  ownId,
  until,
  upTo,
} from '../../log/conformance/rig.ts';
import { logConforms } from '../../log/conformance.ts';
import { frame } from '../../log/framing.ts';
import { fetchFrom } from '../../log/kafka/fetch.ts';
import type { KafkaLog } from '../../log/kafka/open.ts';
import { createWire } from '../../log/kafka/wire.ts';
import { encode } from '../../schemas/codec.ts';
import { sha256 } from '../../schemas/hash.ts';
import { clientOf, type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { kafkaRig } from '../support/kafka-rig.ts';

const { CompressionCodecs, CompressionTypes, ConfigResourceTypes, Partitioners } = kafkajs;

describe.skipIf((await noKafka()) !== null)('on a real broker', () => {
  let cluster: KafkaCluster;
  beforeAll(async () => {
    cluster = await startKafka();
  });
  afterAll(async () => cluster?.stop());

  logConforms('Kafka', () => kafkaRig(cluster));

  test('a group lags from the first record that is kept, also in a partition where it has committed nothing', async () => {
    const rig = await kafkaRig(cluster, { partitions: 2 });
    const log = await rig.open();
    const publish = () => log.publish(upTo(20).map((n) => event(`key-${n}`, n)));
    await publish();
    await rig.age(8);
    const kept = await Promise.all([0, 1].map((p) => log.read('trace.raw', p, 0, 1)));
    await publish();
    const admin = clientOf(cluster.adminBrokers).admin();
    await admin.connect();
    const partitions = [{ partition: 0, offset: '1' }];
    await admin.setOffsets({ groupId: 'earlier', topic: 'trace.raw', partitions });
    await admin.disconnect();
    expect(await log.lag()).toEqual(
      kept.map(({ earliest }, partition) => {
        expect(earliest).toBeGreaterThan(1);
        const place = { group: 'earlier', topic: 'trace.raw', partition };
        return { ...place, committed: earliest, end: 2 * earliest };
      }),
    );
    await rig.close();
  });

  test.each(['flip.metrics.deltas', 'deadletter'])(
    'without %s, to which a reducer may write, nothing is written',
    async (topic) => {
      const rig = await kafkaRig(cluster, { partitions: 1 });
      const log = await rig.open();
      await log.publish(upTo(5).map((n) => event('k', n)));
      const admin = clientOf(cluster.adminBrokers).admin();
      await admin.connect();
      await admin.deleteTopics({ topics: [topic] });
      await until(async () => !(await admin.listTopics()).includes(topic));
      const late = await rig.open();
      const refused = { code: 'topic_missing', kind: 'usage', message: expect.stringContaining(topic) };
      await expect(late.run(counter('count')).done).rejects.toMatchObject(refused);
      if (topic === 'deadletter') {
        const nobody = { group: 'g', topics: ['trace.raw'] as const, onBatch: async () => {} };
        await expect(late.consume(nobody).done).rejects.toMatchObject(refused);
      }
      const [state] = await admin.fetchTopicOffsets('count.state');
      expect([state?.high, await log.lag()]).toEqual(['0', []]);
      await admin.disconnect();
      await rig.close();
    },
  );

  test('a record over the limit that a topic is set to becomes a dead letter; those beside it go on, and it comes back when the limit is raised', async () => {
    const rig = await kafkaRig(cluster, { partitions: 1 });
    const log = await rig.open();
    await limit('trace.raw', 2 ** 20);
    const large = randomBytes(1_500_000).toString('base64');
    await log.publish([event('k', 1), event('k', 2, large), event('k', 3)]);
    const seen = async () => (await everything(log, 'trace.raw')).map(({ value }) => value.seq);
    expect(await seen()).toEqual([1, 3]);
    const letters = await openLetters(log);
    const [letter] = letters.all();
    expect(letter).toMatchObject({ reason: 'record_too_large', key: 'k', groups: ['publish'] });
    expect(letter?.message).toContain('flipstream kafka setup');
    expect(log.counters().deadLetters).toBe(1);
    await limit('trace.raw', 16 * 2 ** 20);
    await putBack(log, { letters, id: letter?.id ?? '' }, async (bytes) => rig.unseal(bytes), Date.now);
    expect(await seen()).toEqual([1, 3, 2]);

    // Where the letter is too large itself, its hash and reason go on alone; without even that, nothing is done.
    await Promise.all([limit('trace.raw', 2 ** 20), limit('deadletter', 2 ** 20)]);
    await log.publish([event('k', 4), event('k', 5, large)]);
    const last = (await everything(log, 'deadletter')).at(-1)?.value;
    expect(last).toMatchObject({ reason: 'record_too_large', content: null });
    expect(last?.value_hash).toMatch(/^[0-9a-f]{64}$/);
    await limit('deadletter', 50);
    await expect(log.publish([event('k', 6, large)])).rejects.toMatchObject({
      code: 'kafka_size_refused',
      kind: 'fatal',
    });
    await rig.close();
  });

  /** By a reducer and by a consumer. @returns what the one counted and the other saw */
  async function readToTheEnd(log: KafkaLog): Promise<[Awaited<ReturnType<typeof counts>>, number[]]> {
    const seen: number[] = [];
    const running = [
      log.run(counter('count')),
      log.consume({
        group: 'g',
        topics: ['trace.raw'],
        onBatch: async ({ records }) => void seen.push(...records.map(({ value }) => value.seq)),
      }),
    ];
    for (const group of ['count', 'g']) await caughtUp(log, group, 'trace.raw');
    await Promise.all(running.map((one) => one.stop()));
    return [await counts(log), seen];
  }

  test('P2 an unreadable record that is too large for a dead letter leaves its hash there; what lies behind it goes on', async () => {
    const rig = await kafkaRig(cluster, { partitions: 1 });
    const log = await rig.open();
    const large = Buffer.alloc(9 * 2 ** 20, 1);
    await rig.inject('trace.raw', 'k', large);
    await log.publish([event('k', 1)]);
    expect(await readToTheEnd(log)).toEqual([{ k: [1] }, [1]]);
    const letters = (await everything(log, 'deadletter')).map(({ value }) => value);
    expect(letters.map(({ group }) => group).sort()).toEqual(['count', 'g']);
    for (const letter of letters)
      expect(letter).toMatchObject({
        reason: 'bad_frame',
        source_offset: 0,
        value_hash: sha256(large),
        value_bytes: large.length,
        content: null,
      });
    await rig.close();
  });

  test('P2 a batch in a compression that is not read is one dead letter, and what lies around it goes on; once set up, brokers compress anew', async () => {
    const rig = await kafkaRig(cluster, { partitions: 1 });
    const log = await rig.open();
    await log.publish([event('k', 1)]);
    const id = await ownId(log, 'trace.raw');
    const bytes = (n: number) => frame(id, encode('TraceEvent', event('k', n).value));
    await sendSnappy('trace.raw', [bytes(2)]);
    await set('trace.raw', 'compression.type', 'producer');
    await sendSnappy('trace.raw', [bytes(3), bytes(4)]);
    await log.publish([event('k', 5)]);
    expect(await readToTheEnd(log)).toEqual([{ k: [1, 2, 3] }, [1, 2, 5]]);
    expect((await everything(log, 'trace.raw')).map(({ value }) => value.seq)).toEqual([1, 2, 5]);
    const letters = await openLetters(log);
    const [letter, ...more] = letters.all();
    expect(more).toEqual([]);
    expect(letter).toMatchObject({
      id: 'trace.raw/0@2',
      reason: 'batch_unreadable',
      groups: expect.arrayContaining(['count', 'g']),
      message: expect.stringMatching(/2 records at the offsets 2 to 3 .* snappy/),
    });
    const unseal = async (sealed: Buffer) => rig.unseal(sealed);
    if (!letter) throw new Error('no letter');
    expect(largestCodecOf(await originalBytes(log, letter, unseal))).toBe(SNAPPY);
    await expect(putBack(log, { letters, id: letter.id }, unseal, Date.now)).rejects.toMatchObject({
      code: 'letter_stays',
    });
    await rig.close();
  });

  async function sendSnappy(topic: string, values: readonly Buffer[]): Promise<void> {
    CompressionCodecs[CompressionTypes.Snappy] = () => ({
      compress: async ({ buffer }: { buffer: Buffer }) => asSnappy(buffer),
      decompress: async (packed: Buffer) => packed,
    });
    const client = clientOf(cluster.adminBrokers);
    const producer = client.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const messages = values.map((value) => ({ key: 'k', value, partition: 0 }));
    await producer.send({ topic, messages, compression: CompressionTypes.Snappy });
    await producer.disconnect();
  }

  const limit = (topic: string, bytes: number) => set(topic, 'max.message.bytes', String(bytes));

  async function set(topic: string, name: string, value: string): Promise<void> {
    const admin = clientOf(cluster.adminBrokers).admin();
    await admin.connect();
    const configEntries = [{ name, value }];
    const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }];
    await admin.alterConfigs({ validateOnly: false, resources });
    const inForce = async () =>
      (await admin.describeConfigs({ includeSynonyms: false, resources })).resources;
    await until(async () =>
      (await inForce()).some((one) =>
        one.configEntries.some(({ configName, configValue }) => configName === name && configValue === value),
      ),
    );
    await admin.disconnect();
  }

  test('what is published, derived and kept as state is compressed with zstd', async () => {
    const rig = await kafkaRig(cluster, { partitions: 1 });
    const topics = ['trace.raw', 'flip.metrics.deltas', 'count.state'];
    // Else the brokers would do it.
    for (const topic of topics) await set(topic, 'compression.type', 'producer');
    const log = await rig.open();
    await log.publish(upTo(50).map((n) => event(`key-${n}`, n)));
    const running = log.run(counter('count'));
    await caughtUp(log, 'count', 'trace.raw');
    await running.stop();
    const wire = createWire({ brokers: cluster.adminBrokers, tls: false });
    for (const topic of topics) {
      const broker = await wire.leader(topic, 0);
      const limits = { waitMs: 0, bytes: 2 ** 20, partitionBytes: 2 ** 20 };
      const [fetched] = await fetchFrom(broker, [{ topic, partition: 0, from: 0 }], limits);
      expect([topic, fetched && largestCodecOf(fetched.bytes)]).toEqual([topic, ZSTD]);
    }
    await wire.close();
    await rig.close();
  });
});

const SNAPPY = 2;
const ZSTD = 4;

/** Snappy without any compression: its length, then stretches of bytes as they are (its format's literals). */
function asSnappy(plain: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let rest = plain.length; rest > 0 || pieces.length === 0; rest >>>= 7)
    pieces.push(Buffer.from([(rest & 0x7f) | (rest > 0x7f ? 0x80 : 0)]));
  for (let at = 0; at < plain.length; at += 60) {
    const piece = plain.subarray(at, at + 60);
    pieces.push(Buffer.from([(piece.length - 1) << 2]), piece);
  }
  return Buffer.concat(pieces);
}

/** Of the largest batch, by the low bits of its attributes (KIP-98's format 2): what is small stays as it is. */
function largestCodecOf(batches: Buffer): number {
  let largest = { bytes: 0, codec: 0 };
  for (let at = 0; at < batches.length; ) {
    const bytes = 12 + batches.readInt32BE(at + 8);
    if (bytes > largest.bytes) largest = { bytes, codec: batches.readInt16BE(at + 21) & 7 };
    at += bytes;
  }
  return largest.codec;
}
