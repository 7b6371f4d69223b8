import { describe, expect, test } from 'vitest';
import { decoder, encode } from '../../schemas/codec.ts';
import { frame } from '../framing.ts';
import { event, everything, type Harness, ownId, until, upTo } from './rig.ts';

/** Consumers that take Avro binary instead of records. */
export function avroConforms(rigged: Harness): void {
  describe('consumeAvro', () => {
    test('gives the very bytes of each record, in order, with its place', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        const sent = upTo(30).map((n) => event('k', n, `text ${n}`));
        await log.publish(sent);
        const got: Buffer[] = [];
        const offsets: number[] = [];
        const running = log.consumeAvro({
          group: 'g',
          topics: ['trace.raw'],
          onBatch: async ({ records }) => {
            got.push(...records.map((one) => Buffer.from(one.value)));
            offsets.push(...records.map((one) => one.offset));
          },
        });
        await until(() => got.length === sent.length);
        await running.stop();
        expect(got).toEqual(sent.map(({ value }) => encode('TraceEvent', value)));
        expect(offsets).toEqual(upTo(30).map((n) => n - 1));
      }));

    test('P2 what is not one whole record becomes a dead letter; the rest goes on', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish([event('k', 1)]);
        const id = await ownId(log, 'trace.raw');
        const whole = frame(id, encode('TraceEvent', event('k', 9).value));
        const poison = [whole.subarray(0, -1), Buffer.concat([whole, Buffer.from([0])]), Buffer.from([7])];
        for (const bytes of poison) await rig.inject('trace.raw', 'k', bytes);
        await log.publish([event('k', 2)]);
        const seen: number[] = [];
        const decode = decoder('TraceEvent');
        const running = log.consumeAvro({
          group: 'g',
          topics: ['trace.raw'],
          onBatch: async ({ records }) => void seen.push(...records.map((one) => decode(one.value).seq)),
        });
        await until(() => seen.length === 2);
        await running.stop();
        expect(seen).toEqual([1, 2]);
        const letters = await everything(log, 'deadletter');
        expect(letters.map((one) => rig.unseal(Buffer.from(one.value.content ?? [])))).toEqual(poison);
        expect(
          letters.every((one) => ['undecodable', 'bad_frame', 'unknown_schema'].includes(one.value.reason)),
        ).toBe(true);
      }));
  });
}
