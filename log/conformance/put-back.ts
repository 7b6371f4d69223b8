import { describe, expect, test } from 'vitest';
import { deadLetter } from '../deadletter.ts';
import { event, everything, type Harness, upTo } from './rig.ts';

/** Bytes of the log taken as they are, and put back as they were. */
export function putBackConforms(rigged: Harness): void {
  describe('stored bytes', () => {
    test('what cannot be read can be looked at, and comes back where its key belongs, with what tells of it', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        const value = Buffer.from([0, 1, 2, 3]);
        await log.publish([event('k', 1)]);
        await rig.inject('trace.raw', 'k', value);
        const [{ partition } = { partition: -1 }] = await everything(log, 'trace.raw');
        const stored = await log.bytesAt('trace.raw', partition, 1);
        expect(stored).toEqual({ topic: 'trace.raw', key: 'k', value });
        expect(await log.bytesAt('trace.raw', partition, 9)).toBeNull();
        const readable = await log.bytesAt('trace.raw', partition, 0);
        if (!stored || !readable) throw new Error('nothing was stored');

        const place = { topic: 'trace.raw', partition, group: 'g' } as const;
        const refused = { record: { offset: 1, timestamp: 0, key: 'k', value }, reason: 'r', message: 'm' };
        await log.putBack([readable, stored], [deadLetter(place, refused, 0, undefined)]);
        expect((await everything(log, 'trace.raw')).map((one) => one.value.seq)).toEqual([1, 1]);
        const { end } = await log.read('trace.raw', partition, 0, 1);
        const places = upTo(end).map((n) => log.bytesAt('trace.raw', partition, n - 1));
        const all = (await Promise.all(places)).flatMap((one) => (one ? [one.value] : []));
        expect(all).toEqual([readable.value, value, readable.value, value]);
        expect(await everything(log, 'deadletter')).toMatchObject([
          { key: 'trace.raw', value: { source_offset: 1, reason: 'r' } },
        ]);
      }));

    test('nothing of it is taken when the partition that was looked at has moved on', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish([event('k', 1)]);
        const [{ partition } = { partition: -1 }] = await everything(log, 'trace.raw');
        const stored = await log.bytesAt('trace.raw', partition, 0);
        if (!stored) throw new Error('nothing was stored');
        const seen = { topic: 'trace.raw', partition, end: 1 } as const;
        await log.putBack([stored], [], seen);
        await expect(log.putBack([stored], [], seen)).rejects.toMatchObject({ code: 'log_moved' });
        expect(await everything(log, 'trace.raw')).toHaveLength(2);
      }));

    test('nothing of it is taken when what tells of it cannot be written', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish([event('k', 1)]);
        const [{ partition } = { partition: -1 }] = await everything(log, 'trace.raw');
        const stored = await log.bytesAt('trace.raw', partition, 0);
        if (!stored) throw new Error('nothing was stored');
        await expect(log.putBack([stored], [event('k', Number.NaN)])).rejects.toMatchObject({
          code: 'schema_mismatch',
        });
        expect(await everything(log, 'trace.raw')).toHaveLength(1);
      }));
  });
}
