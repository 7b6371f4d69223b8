/** The sink on a real broker: what has landed is written in the tables, and what does not fit them is refused. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openLetters } from '../../cli/deadletter/letters.ts';
import { putBack } from '../../cli/deadletter/put-back.ts';
import { event, landAll, newPlace, type Place } from '../../consumers/sink/testing.ts';
import { startSink } from '../../consumers/sink.ts';
import { until, upTo } from '../../log/conformance/rig.ts';
import { frame } from '../../log/framing.ts';
import { encode, schemaText } from '../../schemas/codec.ts';
import { query } from '../../warehouse/query.ts';
import { clientOf, type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { type KafkaRig, kafkaRig } from '../support/kafka-rig.ts';
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.ts';

describe.skipIf((await noKafka()) !== null)('the sink on a real broker', () => {
  let cluster: KafkaCluster;
  let rig: KafkaRig;
  let place: Place;
  beforeAll(async () => {
    cluster = await startKafka();
  });
  afterAll(async () => cluster?.stop());
  beforeEach(async () => {
    place = newPlace();
    rig = await kafkaRig(cluster, { partitions: 2 });
  });
  afterEach(async () => {
    await rig.close();
    place.remove();
  });

  const ask = async (sql: string) => (await query(place.warehouse, sql, { memoryMiB: 256 })).rows;
  const counted = () => ask('SELECT count(*), count(DISTINCT event_id) FROM events');
  const events = (name: string, from: number, to: number) =>
    upTo(to - from).map((n) => event(name, from + n));

  /** Starts a sink that is to be refused, and says why it was. */
  async function refusal(log: Awaited<ReturnType<KafkaRig['open']>>): Promise<unknown> {
    const sink = await startSink({ log, warehouse: place.warehouse, clock: Date.now, flushMs: 5 });
    return sink.done.then(
      () => null,
      (error: unknown) => error,
    );
  }

  test('P3 each event is a row once, whatever the group has committed', async () => {
    const log = await rig.open();
    await log.publish([...events('a', 0, 40), ...events('b', 0, 40)]);
    await landAll(log, place);
    await log.publish(events('a', 40, 60));
    const stats = await landAll(log, place, { group: 'another' });
    expect(stats.tables.events?.rows).toBe(20);
    expect(await counted()).toEqual([[100, 100]]);
  });

  test('two sinks started on the same partitions by mistake publish no range twice', async () => {
    const logs = [await rig.open(), await rig.open()] as const;
    const feeding = (async () => {
      for (let round = 0; round < 20; round++)
        await logs[0].publish(events('a', round * 50, round * 50 + 50));
    })();
    await Promise.all([
      landAll(logs[0], place, { group: 'one', maxRows: 120 }),
      landAll(logs[1], place, { group: 'two', maxRows: 90 }),
      feeding,
    ]);
    await landAll(logs[0], place, { group: 'one' });
    expect(await counted()).toEqual([[1000, 1000]]);
  });

  test('P2 a record that was set aside while its schema was missing lands when it is put back, and not by itself too', async () => {
    const log = await rig.open();
    await log.publish(events('a', 0, 3));
    await landAll(log, place);
    const written = (writer: string) => schemaText('TraceEvent').replace('"doc":"', `"doc":"Of ${writer}. `);
    const unknown = (await rig.register('trace.events', written('one'))) + 1;
    await rig.inject('trace.events', 'a', frame(unknown, encode('TraceEvent', event('a', 4).value)));
    const setAside = async () => (await openLetters(log)).all().map(({ state }) => state);
    const sink = await startSink({ log, warehouse: place.warehouse, clock: Date.now, flushMs: 5 });
    await until(async () => (await setAside()).length === 1);
    await sink.stop();
    expect(await rig.register('trace.events', written('another'))).toBe(unknown);

    await landAll(await rig.open(), place);
    expect(await counted()).toEqual([[3, 3]]);
    const again = await rig.open();
    const letters = await openLetters(again);
    await putBack(again, { letters, id: letters.all()[0]?.id ?? '' }, null, Date.now);
    await landAll(again, place);
    expect(await counted()).toEqual([[4, 4]]);
    expect(await setAside()).toEqual(['put_back']);
  });

  test('what a shortened retention took before it landed is named and refused', async () => {
    const log = await rig.open();
    await log.publish(events('a', 0, 30));
    await landAll(log, place);
    await log.publish(events('a', 30, 50));
    await rig.age(400);
    await log.publish(events('a', 50, 60));
    expect(await refusal(await rig.open())).toMatchObject({
      code: 'log_gap',
      message: expect.stringMatching(/trace\.events\/\d: offsets 30 to 49 /),
    });
    expect(await counted()).toEqual([[30, 30]]);
    await landAll(await rig.open(), place, { acceptGap: true });
    expect(await counted()).toEqual([[40, 40]]);
  });

  const replaced = {
    code: 'log_replaced',
    message: expect.stringMatching(/up to 29 landed from .* from offset 30 on/),
  };

  test('a topic that was made anew is refused; the gap is named', async () => {
    const log = await rig.open();
    await log.publish(events('a', 0, 30));
    await landAll(log, place);
    await rig.close();
    rig = await kafkaRig(cluster, { partitions: 2 });
    const anew = await rig.open();
    await anew.publish(events('b', 0, 50));
    expect(await refusal(anew)).toMatchObject(replaced);
    expect(await counted()).toEqual([[30, 30]]);
    await landAll(anew, place, { acceptGap: true });
    expect(await counted()).toEqual([[80, 80]]);
  });

  test('another cluster is refused; the gap is named', async ({ skip }) => {
    skip(cluster.nodes.length === 0, 'there are no brokers but those that are given');
    const log = await rig.open();
    await log.publish(events('a', 0, 30));
    await landAll(log, place);
    const other = await startKafka();
    const away = await kafkaRig(other, { partitions: 2 });
    const elsewhere = await away.open();
    await elsewhere.publish(events('c', 0, 10));
    expect(await refusal(elsewhere)).toMatchObject(replaced);
    await away.close();
    await other.stop();
    expect(await counted()).toEqual([[30, 30]]);
  });

  test('P1 the disk under the tables is full for a while: nothing of what came meanwhile is lost or twice', async ({
    skip,
  }) => {
    const why = noSmallDisk();
    skip(why !== null, why ?? '');
    const disk = mountSmallDisk(8);
    const warehouse = join(disk.path, 'warehouse');
    const log = await rig.open();
    await log.publish(events('a', 0, 30));
    const troubles: string[] = [];
    const warn = (message: string) => void troubles.push(message);
    const sink = await startSink({ log, warehouse, clock: Date.now, flushMs: 5, memoryMiB: 256, warn });
    const rows = async () =>
      (await query(warehouse, 'SELECT count(*), count(DISTINCT event_id) FROM events')).rows;
    await expect.poll(rows, { timeout: 20_000 }).toEqual([[30, 30]]);
    disk.fill();
    await log.publish(events('a', 30, 90));
    await expect.poll(() => troubles.length, { timeout: 20_000 }).toBeGreaterThan(0);
    disk.free();
    await expect.poll(rows, { timeout: 30_000 }).toEqual([[90, 90]]);
    await sink.stop();
    disk.remove();
  });

  test('a topic that is made anew while it is read ends the sink', async () => {
    const log = await rig.open();
    await log.publish(events('a', 0, 30));
    const sink = await startSink({ log, warehouse: place.warehouse, clock: Date.now, flushMs: 5 });
    const ended = sink.done.then(
      () => null,
      (error: unknown) => error,
    );
    await expect.poll(counted, { timeout: 20_000 }).toEqual([[30, 30]]);
    const admin = clientOf(cluster.adminBrokers).admin();
    await admin.connect();
    await admin.deleteTopics({ topics: ['trace.events'] });
    await expect.poll(async () => (await admin.listTopics()).includes('trace.events')).toBe(false);
    await admin.createTopics({ topics: [{ topic: 'trace.events', numPartitions: 2, replicationFactor: 1 }] });
    await admin.disconnect();
    await (await rig.open()).publish(events('b', 0, 50));
    expect(await ended).toMatchObject({
      kind: 'fatal',
      code: expect.stringMatching(/^topic_replaced|log_rewound$/),
    });
    expect(await counted()).toEqual([[30, 30]]);
  });
});
