import { describe, expect, test } from 'vitest';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { Reducer } from '../log.ts';
import { caughtUp, counter, counts, event, everything, type Harness, until, upTo } from './rig.ts';

const KEYS = ['x', 'y', 'z', 'w', 'v'];
const prepareModule = new URL('./prepare-fixture.ts', import.meta.url);

/** Reducers: outputs, state and offsets are one. */
export function reducersConform(rigged: Harness): void {
  describe('reducers', () => {
    test('P3 restarts and thrown errors: every record is counted once, by key', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        let applied = 0;
        const shaky: Reducer<{ n: number }> = {
          ...counter('count'),
          apply: (state, record, prepared) => {
            // An outage at every fifteenth record: the whole batch is undone and comes again.
            if (++applied % 15 === 0) throw new FlipstreamError('down', 'retryable', 'down');
            return counter('count').apply(state, record, prepared);
          },
        };
        for (let round = 0; round < 4; round++) {
          const opened = await rig.open();
          const running = opened.run(shaky);
          await log.publish(upTo(7).flatMap((n) => KEYS.map((key) => event(key, round * 7 + n))));
          await until(() => (opened.counters().consumed['trace.raw'] ?? 0) > 0);
          await running.stop();
          await opened.close();
        }
        const running = log.run(counter('count'));
        await caughtUp(log, 'count', 'trace.raw');
        await running.stop();
        expect(await counts(log)).toEqual(Object.fromEntries(KEYS.map((key) => [key, upTo(28)])));
      }));

    test('a start where nothing is wrong counts no failure', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        const running = ['count', 'g'].map((group) => log.run(counter(group)));
        await log.publish(KEYS.map((key) => event(key, 1)));
        for (const group of ['count', 'g']) await caughtUp(log, group, 'trace.raw');
        await Promise.all(running.map((one) => one.stop()));
        expect(log.counters()).toMatchObject({ transactionFailures: 0, fenced: 0 });
      }));

    test('P2 a record on which apply throws is set aside alone; those around it count', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        const seen: number[] = [];
        const running = log.run<{ n: number }, undefined>({
          ...counter('count'),
          apply: (state, record, prepared) => {
            if (!('text_redacted' in record.value)) throw new Error('another record');
            seen.push(record.value.seq);
            if (record.value.text_redacted === 'poison') {
              if (state) state.n = 1000;
              throw new TypeError('cannot read "poison"');
            }
            return counter('count').apply(state, record, prepared);
          },
        });
        // In three batches, so that state kept from before the failure would show after it.
        for (const numbers of [
          [1, 2],
          [3, 4, 5, 6, 7],
          [8, 9],
        ]) {
          await log.publish(numbers.map((n) => event('k', n, n === 5 ? 'poison' : null)));
          await caughtUp(log, 'count', 'trace.raw');
        }
        await running.stop();
        expect(await counts(log)).toEqual({ k: upTo(8) });
        expect(seen.filter((n) => n === 5)).toHaveLength(2);
        const letters = await everything(log, 'deadletter');
        expect(letters.map((one) => [one.value.source_offset, one.value.reason])).toEqual([
          [4, 'apply_failed'],
        ]);
        expect(letters[0]?.value.message).not.toContain('poison');
      }));

    test('an output that fits no schema is its record fault, not the batch', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish(upTo(3).map((n) => event('k', n)));
        const running = log.run<{ n: number }, undefined>({
          ...counter('count'),
          apply: (state, record, prepared) => {
            const step = counter('count').apply(state, record, prepared);
            return record.offset === 1 ? { state: step.state, out: [event('k', Number.NaN)] } : step;
          },
        });
        await caughtUp(log, 'count', 'trace.raw');
        await running.stop();
        expect(await counts(log)).toEqual({ k: [1, 2] });
        expect(await everything(log, 'deadletter')).toHaveLength(1);
      }));

    test('state null forgets the key', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish(upTo(5).map((n) => event('k', n)));
        const running = log.run<{ n: number }, undefined>({
          ...counter('count'),
          apply: (state, record, prepared) => {
            const step = counter('count').apply(state, record, prepared);
            return { ...step, state: step.state && step.state.n >= 2 ? null : step.state };
          },
        });
        await caughtUp(log, 'count', 'trace.raw');
        await running.stop();
        expect(await counts(log)).toEqual({ k: [1, 2, 1, 2, 1] });
      }));

    test('P4 two members of a reducer: partitions move between them and every count is exact', () =>
      rigged(async (rig) => {
        const keys = upTo(16).map((n) => `key-${n}`);
        const log = await rig.open();
        let published = 0;
        const publish = () => log.publish(keys.map((key) => event(key, ++published)));
        for (let round = 0; round < 6; round++) {
          const opened = await rig.open();
          const running = opened.run(counter('count'));
          await publish();
          await until(async () => {
            await publish();
            return (opened.counters().consumed['trace.raw'] ?? 0) > 0;
          });
          if (round % 2) await running.stop();
        }
        const each = published / keys.length;
        await caughtUp(log, 'count', 'trace.raw');
        expect(await counts(log)).toEqual(Object.fromEntries(keys.map((key) => [key, upTo(each)])));
      }));

    test('prepare runs in a thread; what hangs or fails alone gets the fallback', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        const texts = ['fine', 'hang', 'good', 'throw', 'last'];
        await log.publish(texts.map((text, n) => event('k', n, text)));
        const got: string[] = [];
        const running = log.run<null, string>({
          group: 'prep',
          inputs: ['trace.raw'],
          outputs: [],
          prepare: { module: prepareModule, deadlineMs: 700, fallback: (why) => `fallback ${why}` },
          apply: (_state, _record, prepared) => {
            got.push(prepared);
            return { state: null, out: [] };
          },
        });
        await caughtUp(log, 'prep', 'trace.raw');
        await running.stop();
        expect(got).toEqual(['FINE', 'fallback timeout', 'GOOD', 'fallback failed', 'LAST']);
      }));

    test('stopping does not wait for a hung prepare, nor take it for the record fault', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish([event('k', 1, 'hang')]);
        const prepared: string[] = [];
        const prep = (deadlineMs: number): Reducer<null, string> => ({
          group: 'prep',
          inputs: ['trace.raw'],
          outputs: [],
          prepare: { module: prepareModule, deadlineMs, fallback: (why) => why },
          apply: (_state, _record, got) => {
            prepared.push(got);
            return { state: null, out: [] };
          },
        });
        const channel = new BroadcastChannel('flipstream prepare fixture');
        const hanging = new Promise((resolve) => {
          channel.onmessage = resolve;
        });
        const patient = log.run(prep(3_600_000));
        await hanging;
        channel.close();
        await patient.stop();
        expect(prepared).toEqual([]);
        const running = log.run(prep(400));
        await caughtUp(log, 'prep', 'trace.raw');
        await running.stop();
        expect(prepared).toEqual(['timeout']);
      }));

    test('a prepare module that cannot be loaded ends the reducer instead of falling back for everything', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish([event('k', 1)]);
        const running = log.run<null, string>({
          group: 'prep',
          inputs: ['trace.raw'],
          outputs: [],
          prepare: { module: new URL('./no-such.ts', import.meta.url), deadlineMs: 250, fallback: () => '' },
          apply: () => ({ state: null, out: [] }),
        });
        await expect(running.done).rejects.toMatchObject({ code: 'prepare_unusable', kind: 'fatal' });
      }));
  });
}
