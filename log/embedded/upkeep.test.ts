import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { fc, test as prop } from '@fast-check/vitest';
import { describe, expect, test, vi } from 'vitest';
import { encode } from '../../schemas/codec.ts';
import { SCHEMAS } from '../../schemas/generated.ts';
import { blankEvent } from '../../schemas/testing.ts';
import { caughtUp, counter, delta, event, everything, upTo } from '../conformance/rig.ts';
import { deadLetter } from '../deadletter.ts';
import { frame } from '../framing.ts';
import { pack, plain, unpack } from './block.ts';
import { embeddedRig } from './testing.ts';

const DAY_MS = 86_400_000;

describe('blocks', () => {
  const anyRecord = fc.record({
    gap: fc.integer({ min: 1, max: 5 }),
    timestamp: fc.maxSafeNat(),
    key: fc.string({ unit: 'grapheme', maxLength: 20 }),
    value: fc.uint8Array({ maxLength: 9_000 }).map((bytes) => Buffer.from(bytes)),
  });
  prop.prop([fc.array(anyRecord, { minLength: 1, maxLength: 120 }), fc.nat(300)], { numRuns: 50 })(
    'give back what was packed, from any offset on',
    (drawn, from) => {
      let offset = 0;
      const records = drawn.map(({ gap, timestamp, key, value }) => {
        offset += gap;
        return { offset, timestamp, key: key.toWellFormed(), value };
      });
      const back = pack(records).flatMap((block) => [
        ...unpack({ base: block.base, data: plain(block.data, block.zstd) }, from),
      ]);
      expect(back).toEqual(records.filter((one) => one.offset >= from));
    },
  );

  test('damaged bytes are named', () => {
    const value = Buffer.alloc(200);
    const [block] = pack([{ offset: 0, timestamp: 1, key: 'k', value }]);
    const data = block?.data ?? Buffer.alloc(0);
    expect(() => [...unpack({ base: 0, data: data.subarray(0, 100) }, 0)]).toThrow(/damaged/);
    expect(() => plain(data, true)).toThrow(/damaged/);
  });
});

test('merging small blocks changes nothing but their number', async () => {
  const rig = await embeddedRig();
  const log = await rig.open();
  for (let n = 0; n < 150; n++) await log.publish([event('k', n, `text ${n}`), event('l', n)]);
  await log.publish([event('k', 150, 'x'.repeat(2 ** 20))]);
  await log.publish([event('k', 151)]);
  const before = await everything(log, 'trace.raw');
  const { merged } = await log.maintain();
  expect(merged).toBeGreaterThan(200);
  expect(await everything(log, 'trace.raw')).toEqual(before);
  expect((await log.maintain()).merged).toBe(0);
  await log.publish([event('k', 152)]);
  expect((await everything(log, 'trace.raw')).filter((one) => one.key === 'k').at(-1)?.value.seq).toBe(152);
  await rig.close();
});

test('small blocks behind many that alternate with large ones are merged, too', async () => {
  const rig = await embeddedRig();
  const log = await rig.open();
  const large = randomBytes(33_000).toString('hex');
  for (let n = 0; n < 256; n++) {
    await log.publish([event('k', 2 * n, large)]);
    await log.publish([event('k', 2 * n + 1)]);
  }
  for (let n = 512; n < 612; n++) await log.publish([event('k', n)]);
  const before = await everything(log, 'trace.raw');
  expect((await log.maintain()).merged).toBe(101);
  expect(await everything(log, 'trace.raw')).toEqual(before);
  await rig.close();
});

test('P1 retention keeps what a known group has not read: months asleep lose nothing', async () => {
  const rig = await embeddedRig();
  const log = await rig.open();
  await log.publish([event('k', 1)]);
  const first = log.run(counter('count'));
  await caughtUp(log, 'count', 'trace.raw');
  await first.stop();
  await log.publish(upTo(5).map((n) => event('k', n + 1)));
  await rig.age(90);
  const second = log.run(counter('count'));
  await caughtUp(log, 'count', 'trace.raw');
  await second.stop();
  const sums = (await everything(log, 'flip.metrics.deltas')).map((one) => one.value.sessions);
  expect(sums.at(-1)).toBe(6);
  await rig.age(90);
  expect(await everything(log, 'trace.raw')).toEqual([]);

  // A group that is stuck on its very first record is seen, and waited for, too.
  await log.publish([event('k', 7)]);
  const stuck = log.consume({
    group: 'stuck',
    topics: ['trace.raw'],
    onBatch: () => Promise.reject(new Error('down')),
  });
  const lag = async () => (await log.lag()).filter((one) => one.group === 'stuck' && one.end > one.committed);
  await vi.waitFor(async () => expect(await lag()).toHaveLength(1));
  await stuck.stop();
  await rig.age(90);
  expect(await everything(log, 'trace.raw')).toHaveLength(1);
  await rig.close();
});

test('what only a reviewer could still read is not removed without a word', async () => {
  const rig = await embeddedRig();
  const said: string[] = [];
  const log = await rig.open({ warn: (message) => void said.push(message) });
  const held = { event_id: 'e', session_id: 's', ts: '2026-01-01T00:00:00.000Z', type: 'message' };
  const value = { ...held, reason: 'hit', rules: [], scanner: '1', content: Buffer.from('x') };
  await log.publish(['a', 'b', 'c'].map((key) => ({ topic: 'trace.quarantine' as const, key, value })));
  const record = { offset: 0, timestamp: 0, key: 'k', value: Buffer.from([1]) };
  const refused = { record, reason: 'bad_frame', message: 'too few' };
  const place = { topic: 'trace.raw', partition: 0, group: 'g' } as const;
  await log.publish([deadLetter(place, refused, 0, undefined), event('k', 1)]);
  rig.advance(364 * DAY_MS);
  await log.maintain();
  expect(said).toEqual([]);
  rig.advance(2 * DAY_MS);
  await log.maintain();
  expect(await everything(log, 'trace.quarantine')).toEqual([]);
  expect(said).toEqual([
    '3 records of trace.quarantine were older than 365 days and are removed',
    '1 records of deadletter were older than 365 days and are removed',
  ]);
  await log.maintain();
  expect(said).toHaveLength(2);
  await rig.close();
});

test('a consumer of a compacted topic may read while it is compacted', async () => {
  const rig = await embeddedRig();
  const log = await rig.open();
  const values = upTo(3000).map((n) => ({
    topic: 'flip.metrics' as const,
    key: `k${n % 7}`,
    value: delta('b', n),
  }));
  for (let n = 0; n < 3000; n += 300) await log.publish(values.slice(n, n + 300));
  const last = new Map<string, number>();
  log.consume({
    group: 'g',
    topics: ['flip.metrics'],
    maxBatch: 50,
    onBatch: async ({ records }) => {
      for (const { key, value } of records) last.set(key, value.sessions);
    },
  });
  await log.maintain();
  await caughtUp(log, 'g', 'flip.metrics');
  expect([...last.values()].sort((a, b) => a - b)).toEqual([2994, 2995, 2996, 2997, 2998, 2999, 3000]);
  await rig.close();
});

test('P7 an older writer: its schema lies in the file, its records decode with nulls for newer fields', async () => {
  const rig = await embeddedRig();
  const log = await rig.open();
  const older = structuredClone(SCHEMAS.TraceEvent) as { fields: { name: string }[] };
  older.fields = older.fields.filter((field) => field.name !== 'history_visible');
  const db = new DatabaseSync(rig.path);
  db.prepare('INSERT INTO schema VALUES (77, ?, ?, ?)').run('TraceEvent', 'older', JSON.stringify(older));
  db.close();
  const bytes = encode('TraceEvent', { ...blankEvent(), seq: 9 });
  await rig.inject('trace.raw', 'k', frame(77, bytes.subarray(0, -1)));
  const [record] = await everything(log, 'trace.raw');
  expect(record?.value).toMatchObject({ seq: 9, history_visible: null });
  await rig.close();
});
