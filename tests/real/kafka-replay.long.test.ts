/** Replay from a real cluster, and records of two releases side by side on it. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { event, landAll, newPlace, openLog, type Place, verdict } from '../../consumers/sink/testing.ts';
import { replay } from '../../jobs/replay.ts';
import { everything } from '../../log/conformance/rig.ts';
import { frame, unframe } from '../../log/framing.ts';
import { openRegistry } from '../../log/kafka/registry/registry.ts';
import type { Log } from '../../log/log.ts';
import { decoder } from '../../schemas/codec.ts';
import { contents } from '../support/contents.ts';
import { type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { type KafkaRig, kafkaRig } from '../support/kafka-rig.ts';

describe.skipIf((await noKafka()) !== null)('on a real broker', () => {
  let cluster: KafkaCluster;
  let rig: KafkaRig;
  const places: Place[] = [];
  const logs: Log[] = [];
  beforeAll(async () => {
    cluster = await startKafka();
    rig = await kafkaRig(cluster, { partitions: 2 });
  }, 120_000);
  afterAll(async () => {
    await Promise.all(logs.map((log) => log.close()));
    await rig?.close();
    await cluster?.stop();
    for (const place of places) place.remove();
  });

  function place(): Place {
    const made = newPlace();
    places.push(made);
    return made;
  }

  async function replayed(from: { log: Log } | { warehouse: string }) {
    const to = place();
    const into = await openLog(to);
    logs.push(into);
    await replay({ from, into });
    await landAll(into, to);
    return contents(to.warehouse);
  }

  test('replay from the cluster and from the archive: every table has the rows of the live run', async () => {
    const log = await rig.open();
    await log.publish(Array.from({ length: 400 }, (_, i) => event(`s${i % 5}`, i)));
    await log.publish([verdict('v', 's1'), verdict('b', 's1', 'baseline'), verdict('b', 's2', 'baseline')]);
    const live = place();
    await landAll(log, live);
    const before = await contents(live.warehouse);
    expect(before.get('events')).toHaveLength(400);
    expect(await replayed({ log })).toEqual(before);
    expect(await replayed({ warehouse: live.warehouse })).toEqual(before);
    // After retention the archive suffices, and the log says that it does not.
    await rig.age(400);
    await expect(replayed({ log })).rejects.toMatchObject({ code: 'replay_short' });
    expect(await replayed({ warehouse: live.warehouse })).toEqual(before);
  }, 300_000);

  test('P7 an old producer with a new consumer, and a new producer with an old consumer', async () => {
    const Fixture = z.looseObject({
      TraceEvent: z.object({
        schema: z.record(z.string(), z.unknown()),
        records: z.array(z.object({ base64: z.string(), value: z.record(z.string(), z.unknown()) })),
      }),
    });
    const file = new URL('../../schemas/fixtures/first-release.json', import.meta.url);
    const { schema, records } = Fixture.parse(JSON.parse(readFileSync(file, 'utf8'))).TraceEvent;
    const old = JSON.stringify(schema);
    const id = await rig.register('trace.raw', old);
    const log = await rig.open();
    for (const { base64 } of records)
      await rig.inject('trace.raw', 'old', frame(id, Buffer.from(base64, 'base64')));
    await log.publish([{ ...event('new', 7), topic: 'trace.raw' }]);
    const read = await everything(log, 'trace.raw');
    const byOld = read.filter(({ key }) => key === 'old').map(({ value }) => ({ ...value }));
    expect(byOld).toMatchObject(records.map(({ value }) => value));

    const fresh = read.find(({ key }) => key === 'new');
    const stored = fresh && (await log.bytesAt('trace.raw', fresh.partition, fresh.offset));
    if (!stored) throw new Error('the new record is not there');
    const registry = openRegistry({ url: rig.registry.url });
    const oldConsumer = decoder(
      'TraceEvent',
      await registry.schemaOf(unframe(stored.value).schemaId, 'trace.raw'),
    );
    expect(oldConsumer(unframe(stored.value).body)).toMatchObject({ seq: 7, session_id: 'new' });
  }, 120_000);
});
