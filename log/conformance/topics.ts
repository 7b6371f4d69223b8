import { describe, expect, test } from 'vitest';
import { counts, delta, event, everything, type Harness, upTo } from './rig.ts';

/** What the log keeps: order, durability, size, compaction, retention. */
export function topicsConform(rigged: Harness): void {
  describe('topics', () => {
    test('records of one key stay in order, in one partition, whoever publishes', () =>
      rigged(async (rig) => {
        const [a, b] = [await rig.open(), await rig.open()];
        for (let n = 0; n < 10; n++)
          await (n % 2 ? a : b).publish(['x', 'y', 'z'].map((key) => event(key, n)));
        const all = await everything(a, 'trace.raw');
        for (const key of ['x', 'y', 'z']) {
          const mine = all.filter((one) => one.key === key);
          expect(mine.map((one) => one.value.seq)).toEqual(upTo(10).map((n) => n - 1));
          expect(new Set(mine.map((one) => one.partition)).size).toBe(1);
        }
      }));

    test('calls that do not wait for each other keep their order', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await Promise.all(upTo(200).map((n) => log.publish([event('k', n)])));
        expect((await everything(log, 'trace.raw')).map((one) => one.value.seq)).toEqual(upTo(200));
      }));

    test('what was published is there for another opening and after all have closed', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish([event('k', 1, 'text \u0000 ✓')]);
        const other = await rig.open();
        expect((await everything(other, 'trace.raw'))[0]?.value.text_redacted).toBe('text \u0000 ✓');
        await Promise.all([log.close(), other.close()]);
        const again = await rig.open();
        expect(await everything(again, 'trace.raw')).toHaveLength(1);
        expect(await again.idOf('trace.raw')).toBe(await (await rig.open()).idOf('trace.raw'));
        expect(await again.idOf('trace.raw')).not.toBe(await again.idOf('flips'));
      }));

    test('an invalid record is refused by name, and nothing of its call is taken', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        const bad = event('k', Number.NaN);
        await expect(log.publish([event('k', 1), bad])).rejects.toMatchObject({
          code: 'schema_mismatch',
          kind: 'poison',
        });
        expect(await everything(log, 'trace.raw')).toEqual([]);
      }));

    test('big records come through, among small ones', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        const big = 'ä'.repeat(3 * 2 ** 20);
        await log.publish([event('k', 1), event('k', 2, big), event('k', 3)]);
        const all = await everything(log, 'trace.raw');
        expect(all.map((one) => one.value.seq)).toEqual([1, 2, 3]);
        expect(all[1]?.value.text_redacted === big).toBe(true);
      }));

    test('sealed content is not in the log as it was', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        const content = Buffer.from('a secret that a scanner hit');
        const value = { ...QUARANTINED, content };
        await log.publish([{ topic: 'trace.quarantine', key: 'k', value }]);
        const [kept] = await everything(log, 'trace.quarantine');
        const stored = Buffer.from(kept?.value.content ?? []);
        expect(stored.includes('secret')).toBe(false);
        expect(rig.unseal(stored)).toEqual(content);
      }));

    test('compaction keeps the last value of every key, and offsets stay as they were', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        const keys = ['x', 'y', 'z'];
        await log.publish(
          upTo(1500).flatMap((n) =>
            keys.map((key) => ({
              topic: 'flip.metrics' as const,
              key,
              value: { ...delta(key, n), attempts: 0 },
            })),
          ),
        );
        const before = await everything(log, 'flip.metrics');
        await rig.age(1);
        const after = await everything(log, 'flip.metrics');
        expect(after.length).toBeLessThan(before.length / 2);
        for (const key of keys) {
          const last = after.filter((one) => one.key === key).at(-1);
          expect(last?.value.sessions).toBe(1500);
          expect(last?.offset).toBe(before.filter((one) => one.key === key).at(-1)?.offset);
        }
      }));

    test('retention takes the oldest records and says where the log begins', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish(upTo(20).map((n) => event('k', n)));
        const partition = (await everything(log, 'trace.raw'))[0]?.partition ?? 0;
        await rig.age(8);
        await log.publish([event('k', 21)]);
        const batch = await log.read('trace.raw', partition, 3, 100);
        expect(batch).toMatchObject({ earliest: 20, end: 21, nextOffset: 21 });
        expect(batch.records.map((one) => one.value.seq)).toEqual([21]);
        expect(await counts(log)).toEqual({});
      }));

    test('closing twice is closing once; a closed log says so', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        const last = log.publish([event('k', 1)]);
        await Promise.all([log.close(), log.close()]);
        await last;
        await log.close();
        await expect(log.publish([event('k', 2)])).rejects.toMatchObject({ code: 'log_closed' });
        expect(await everything(await rig.open(), 'trace.raw')).toHaveLength(1);
      }));
  });
}

const QUARANTINED = {
  event_id: 'e',
  session_id: 'k',
  ts: '2026-01-01T00:00:00.000Z',
  type: 'message',
  reason: 'hit',
  rules: [],
  scanner: 's',
};
