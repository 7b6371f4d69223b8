/** P2 end to end: bytes that are no record, in the topics that everything hangs on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mask } from '../log/embedded/testing.ts';
import { frame } from '../log/framing.ts';
import { encode } from '../schemas/codec.ts';
import type { DeadLetter } from '../schemas/generated.ts';
import { sha256 } from '../schemas/hash.ts';
import { createTestOracle } from '../streams/testing/oracle.ts';
import { gradedSession } from '../streams/testing/session.ts';
import { createPipeline, type Pipeline } from './support/pipeline.ts';

const oracle = createTestOracle();
const session = gradedSession({ oracle, sessionId: 's-1' });
const [first] = session.events;
if (!first) throw new Error('no event');
const body = encode('TraceEvent', first);

let pipeline: Pipeline;
/** Bytes by what is wrong with them, with the reason that the dead letter must give. */
let bad: Record<string, [bytes: Buffer, reason: string]>;

beforeAll(async () => {
  pipeline = await createPipeline({ ring: oracle.ring });
  // The id of our own schema, from a record that the log has framed itself.
  const id = await ownSchemaId();
  bad = {
    'no byte at all': [Buffer.alloc(0), 'bad_frame'],
    'one byte': [Buffer.from([0]), 'bad_frame'],
    'four bytes': [Buffer.from([0, 0, 0, 0]), 'bad_frame'],
    'five bytes: a frame without a body': [frame(id, Buffer.alloc(0)), 'undecodable'],
    'another magic byte': [Buffer.concat([Buffer.from([1]), frame(id, body).subarray(1)]), 'bad_frame'],
    'an unknown schema id': [frame(9_999, body), 'unknown_schema'],
    'cut short': [frame(id, body.subarray(0, body.length - 7)), 'undecodable'],
    'with bytes left over': [frame(id, Buffer.concat([body, Buffer.from('more')])), 'undecodable'],
    'a frame of noise': [frame(id, Buffer.alloc(300, 0xff)), 'undecodable'],
  };
  const [start, ...rest] = session.events;
  if (start) await pipeline.log.publish([{ topic: 'trace.raw', key: 's-1', value: start }]);
  for (const [bytes] of Object.values(bad)) await pipeline.inject('trace.raw', 's-1', bytes);
  await pipeline.log.publish(rest.map((value) => ({ topic: 'trace.raw', key: 's-1', value })));
  // Two groups read these two: each finds out for itself, and says so.
  for (const topic of ['trace.events', 'oracle.verdicts'] as const)
    await pipeline.inject(topic, 's-1', Buffer.from(`no ${topic}`));
  await pipeline.log.publish(
    session.verdicts.map((value) => ({ topic: 'oracle.verdicts', key: 's-1', value })),
  );
  pipeline.startStreams();
  await pipeline.startSink();
  await pipeline.settled();
});
afterAll(() => pipeline.close());

async function ownSchemaId(): Promise<number> {
  for (let id = 1; id < 100; id++) {
    await pipeline.inject('trace.raw', `probe-${id}`, frame(id, body));
    const partitions = await pipeline.log.partitions('trace.raw');
    for (let partition = 0; partition < partitions; partition++) {
      const { records } = await pipeline.log.read('trace.raw', partition, 0, 1000);
      if (records.some(({ key }) => key === `probe-${id}`)) return id;
    }
  }
  throw new Error('no schema id of ours');
}

async function letters(): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  for (let partition = 0; partition < (await pipeline.log.partitions('deadletter')); partition++)
    found.push(
      ...(await pipeline.log.read('deadletter', partition, 0, 1000)).records.map(({ value }) => value),
    );
  return found;
}

test('P2 undecodable records: each is a row of deadletter with reason and source, and the rest goes on', async () => {
  const rows = await pipeline.sql(
    `SELECT reason, value_hash, value_bytes, "group", key FROM deadletter
     WHERE source_topic = 'trace.raw' AND key = 's-1' ORDER BY source_offset`,
  );
  expect(rows).toEqual(
    Object.values(bad).map(([bytes, reason]) => ({
      ...{ reason, value_hash: sha256(bytes), value_bytes: bytes.length },
      ...{ group: 'redact', key: 's-1' },
    })),
  );
  expect(await pipeline.unbroken('s-1')).toHaveLength(session.events.length);
  expect(await pipeline.sql('SELECT outcome, marks FROM sessions')).toEqual([
    { outcome: 'flipped', marks: [] },
  ]);
  expect(await pipeline.sql('SELECT count(*)::INTEGER AS n FROM flips')).toEqual([{ n: 1 }]);
});

test('P2 where two groups read one topic each of them sets the record aside, once', async () => {
  const rows = await pipeline.sql(
    `SELECT source_topic AS topic, "group" FROM deadletter WHERE source_topic <> 'trace.raw' ORDER BY ALL`,
  );
  expect(rows).toEqual([
    { topic: 'oracle.verdicts', group: 'join' },
    { topic: 'oracle.verdicts', group: 'sink' },
    { topic: 'trace.events', group: 'join' },
    { topic: 'trace.events', group: 'sink' },
  ]);
});

test('P2 the original bytes lie sealed in the letter, no content in the warehouse; they can be put back after a fix', async () => {
  const columns = await pipeline.sql('SELECT column_name AS name FROM (DESCRIBE deadletter)');
  expect(columns.map(({ name }) => name)).not.toContain('content');
  const letter = (await letters()).find(({ reason, key }) => reason === 'unknown_schema' && key === 's-1');
  const original = mask(letter?.content ?? Buffer.alloc(0));
  expect(original.equals(bad['an unknown schema id']?.[0] ?? Buffer.alloc(0))).toBe(true);
  // The fix: this writer's id is now known to be ours.
  const fixed = { ...first, session_id: 's-2', event_id: sha256('fixed') };
  expect(original.subarray(5).equals(body)).toBe(true);
  await pipeline.log.publish([{ topic: 'trace.raw', key: 's-2', value: fixed }]);
  await pipeline.settled();
  expect(await pipeline.unbroken('s-2')).toHaveLength(1);
});
