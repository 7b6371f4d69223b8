import { describe, expect, test } from 'vitest';
import { caughtUp, counter, counts, event, type Harness, until, upTo } from './rig.ts';

/** Older than any record of `trace.raw` may get. */
const DAYS = 8;

/** What a reducer makes of records that retention took. */
export function retentionConforms(rigged: Harness): void {
  describe('retention', () => {
    test('a group that has never begun begins at the first record that is kept', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish(upTo(10).map((n) => event('k', n)));
        await rig.age(DAYS);
        await log.publish(upTo(5).map((n) => event('k', 10 + n)));
        const running = log.run(counter('count'));
        await caughtUp(log, 'count', 'trace.raw');
        await running.stop();
        expect(await counts(log)).toEqual({ k: upTo(5) });
      }));

    test('what a group that stands at 0 has not seen is kept for it, or it ends and names the gap', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        const first = log.run(counter('count'));
        const partitions = await log.partitions('trace.raw');
        await until(
          async () => (await log.lag()).filter(({ group }) => group === 'count').length === partitions,
        );
        await first.stop();
        await log.publish(upTo(10).map((n) => event('k', n)));
        await rig.age(DAYS);
        await log.publish(upTo(5).map((n) => event('k', 10 + n)));
        const again = (await rig.open()).run(counter('count'));
        const why: unknown = await Promise.race([
          caughtUp(log, 'count', 'trace.raw'),
          again.done.catch((error: unknown) => error),
        ]);
        if (why)
          expect(why).toMatchObject({ code: 'records_lost', message: expect.stringContaining(' 0 to 9 ') });
        expect(await counts(log)).toEqual(why ? {} : { k: upTo(15) });
      }));
  });
}
