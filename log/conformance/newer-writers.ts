import { describe, expect, test } from 'vitest';
import { encode } from '../../schemas/codec.ts';
import { blankEvent, newerTraceEvent } from '../../schemas/testing.ts';
import { frame } from '../framing.ts';
import type { Log } from '../log.ts';
import { partitionOf } from '../partition.ts';
import { counter, counts, event, type Harness, type Rig, until, upTo } from './rig.ts';

/** Records with a field that only a newer release knows: docs/decisions/0020. */
export function newerWritersConform(rigged: Harness): void {
  describe('a newer writer', () => {
    test('P7 its record waits; what lies before it, and the other input of a reducer, do not', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish([event('k', 1), event('k', 2)]);
        await injectNewer(rig);
        await log.publish([event('k', 4)]);
        const running = log.run({ ...counter('count'), inputs: ['trace.raw', 'trace.events'] });
        for (const round of upTo(3)) {
          await log.publish([{ ...event('k', round), topic: 'trace.events' }]);
          await until(async () => (await counts(log)).k?.length === 2 + round);
        }
        await running.stop();
        expect((await counts(log)).k).toEqual(upTo(5));
        expect(await committed(log, 'count')).toBe(2);
      }));

    test('P7 its record waits for a consumer too; another read says why', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish([event('k', 1), event('k', 2)]);
        await injectNewer(rig);
        const seen: number[] = [];
        const running = log.consume({
          group: 'g',
          topics: ['trace.raw'],
          onBatch: async ({ records }) => void seen.push(...records.map(({ value }) => value.seq)),
        });
        await until(async () => (await committed(log, 'g')) === 2);
        await running.stop();
        expect(seen).toEqual([1, 2]);
        const partition = partitionOf('k', await log.partitions('trace.raw'));
        expect((await log.read('trace.raw', partition, 0, 10)).nextOffset).toBe(2);
        await expect(log.read('trace.raw', partition, 2, 10)).rejects.toThrow(
          expect.objectContaining({ code: 'newer_writer' }),
        );
      }));
  });
}

/** How far a group is in trace.raw, over all partitions. */
async function committed(log: Log, group: string): Promise<number> {
  const lag = (await log.lag()).filter((one) => one.group === group && one.topic === 'trace.raw');
  return lag.reduce((sum, one) => sum + one.committed, 0);
}

/** A record of key k with a field more. */
async function injectNewer(rig: Rig): Promise<void> {
  const id = await rig.register('trace.raw', newerTraceEvent('mood'));
  const body = Buffer.concat([encode('TraceEvent', blankEvent()), Buffer.from([0])]);
  await rig.inject('trace.raw', 'k', frame(id, body));
}
