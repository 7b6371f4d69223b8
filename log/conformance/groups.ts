import { describe, expect, test } from 'vitest';
import { FlipstreamError } from '../../schemas/errors.ts';
import { frame } from '../framing.ts';
import type { Batch } from '../log.ts';
import { caughtUp, counter, event, everything, type Harness, ownId, until, upTo } from './rig.ts';

const KEYS = upTo(24).map((n) => `key-${n}`);

/** Consumer groups: offsets, restarts, members, poison. */
export function groupsConform(rigged: Harness): void {
  describe('groups', () => {
    test('each group reads everything; a restarted one goes on from its committed offsets', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish(KEYS.map((key) => event(key, 1)));
        const first: string[] = [];
        const idle = Promise.withResolvers<void>();
        const running = log.consume({
          group: 'g',
          topics: ['trace.raw'],
          onBatch: async ({ records }) => void first.push(...records.map((one) => one.key)),
          onIdle: async () => idle.resolve(),
        });
        await idle.promise;
        expect(first.sort()).toEqual([...KEYS].sort());
        await running.stop();
        await log.publish([event('key-3', 2)]);

        const second: number[] = [];
        const again = (await rig.open()).consume({
          group: 'g',
          topics: ['trace.raw'],
          onBatch: async ({ records }) => void second.push(...records.map((one) => one.value.seq)),
        });
        await until(() => second.length > 0);
        await again.stop();
        expect(second).toEqual([2]);
        const other: string[] = [];
        const apart = log.consume({
          group: 'h',
          topics: ['trace.raw'],
          onBatch: async ({ records }) => void other.push(...records.map((one) => one.key)),
        });
        await caughtUp(log, 'h', 'trace.raw');
        await apart.stop();
        expect(other).toHaveLength(KEYS.length + 1);
      }));

    test('P1 an outage behind a consumer: the batch is tried again from the same offset until it is done', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish(upTo(10).map((n) => event('k', n)));
        const tried: number[] = [];
        const landed: number[] = [];
        const running = log.consume({
          group: 'g',
          topics: ['trace.raw'],
          onBatch: async ({ records }) => {
            tried.push(records[0]?.offset ?? -1);
            if (tried.length < 4) throw new Error('the store is down');
            landed.push(...records.map((one) => one.value.seq));
          },
        });
        await caughtUp(log, 'g', 'trace.raw');
        await running.stop();
        expect(tried).toEqual([0, 0, 0, 0]);
        expect(landed).toEqual(upTo(10));
        expect(log.counters().transactionFailures).toBe(3);
      }));

    test('P1 records that come while a batch fails are no reason to pass over the batch', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish([event('k', 1)]);
        const seen: number[] = [];
        let failed = false;
        let more: Promise<void> | null = null;
        const running = log.consume({
          group: 'g',
          topics: ['trace.raw'],
          startAt: async () => {
            // Asked again after the failure: what comes now may answer a request from before it.
            if (failed) more ??= log.publish([event('k', 2)]);
            return null;
          },
          onBatch: async ({ records }) => {
            if (!failed) {
              // Long enough for an engine to have asked for what comes after this batch.
              await log.lag();
              failed = true;
              throw new Error('the store is down');
            }
            seen.push(...records.map(({ value }) => value.seq));
          },
        });
        await until(() => seen.includes(2));
        await more;
        await running.stop();
        expect(seen).toEqual([1, 2]);
      }));

    test('a group lags in every partition of what it reads from when it begins, also where its first record is stuck', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish(KEYS.map((key) => event(key, 1)));
        const stuck = async () => Promise.reject(new Error('the store is down'));
        const consuming = log.consume({ group: 'g', topics: ['trace.raw'], onBatch: stuck });
        const reducer = counter('count');
        const apply = () => {
          throw new FlipstreamError('trouble', 'retryable', 'not now');
        };
        const reducing = log.run({ ...reducer, apply });
        const partitions = await log.partitions('trace.raw');
        const ends = await Promise.all(upTo(partitions).map((n) => log.read('trace.raw', n - 1, 0, 1)));
        for (const group of ['g', 'count']) {
          const lagging = async () => (await log.lag()).filter((one) => one.group === group);
          await until(async () => (await lagging()).length === partitions);
          expect(await lagging()).toEqual(
            ends.map(({ end }, partition) => ({ group, topic: 'trace.raw', partition, committed: 0, end })),
          );
        }
        await Promise.all([consuming.stop(), reducing.stop()]);
      }));

    test('startAt: the consumer own store says where to go on, not the group', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish(upTo(10).map((n) => event('k', n)));
        const seen: number[] = [];
        const options = {
          group: 'g',
          topics: ['trace.raw'] as const,
          onBatch: async ({ records }: Batch<'trace.raw'>) =>
            void seen.push(...records.map((one) => one.value.seq)),
        };
        const first = log.consume(options);
        await caughtUp(log, 'g', 'trace.raw');
        await first.stop();
        const [{ partition: home } = { partition: -1 }] = await everything(log, 'trace.raw');
        const back = log.consume({
          ...options,
          startAt: async (_, partition) => (partition === home ? 7 : null),
        });
        await until(() => seen.length === 13);
        await back.stop();
        expect(seen.slice(10)).toEqual([8, 9, 10]);
      }));

    test('startAt: what the own store has beyond the group counts as read, also where nothing follows', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        const topics = ['trace.raw'] as const;
        await log.publish(upTo(10).map((n) => event('k', n)));
        const before = log.consume({ group: 'g', topics, onBatch: async () => {} });
        await caughtUp(log, 'g', 'trace.raw');
        await before.stop();
        await log.publish(upTo(10).map((n) => event('k', 10 + n)));
        for (const group of ['g', 'new']) {
          let read = 0;
          const running = log.consume({
            ...{ group, topics },
            startAt: async (topic, partition) => (await log.read(topic, partition, 0, 1)).end,
            onBatch: async ({ records }) => {
              read += records.length;
            },
          });
          await caughtUp(log, group, 'trace.raw');
          await running.stop();
          expect(read).toBe(0);
        }
      }));

    test('a fatal error ends the consumer and says why', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish([event('k', 1)]);
        const running = log.consume({
          group: 'g',
          topics: ['trace.raw'],
          onBatch: async () => {
            throw new FlipstreamError('gap', 'fatal', 'records are missing');
          },
        });
        await expect(running.done).rejects.toMatchObject({ code: 'gap' });
      }));

    test('maxBatch is kept, and offsets go on without a hole', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish(upTo(25).map((n) => event('k', n)));
        const sizes: number[] = [];
        const running = log.consume({
          group: 'g',
          topics: ['trace.raw'],
          maxBatch: 10,
          onBatch: async ({ records }) => void sizes.push(records.length),
        });
        await caughtUp(log, 'g', 'trace.raw');
        await running.stop();
        expect(sizes).toEqual([10, 10, 5]);
      }));

    test('P2 undecodable records become dead letters with reason, source and original bytes; the rest goes on', () =>
      rigged(async (rig) => {
        const log = await rig.open();
        await log.publish([event('k', 1)]);
        const id = await ownId(log, 'trace.raw');
        const poison = [
          Buffer.alloc(0),
          Buffer.from([0]),
          Buffer.from([0, 0, 0, 0]),
          frame(id, Buffer.alloc(0)),
          Buffer.from([7, 0, 0, 0, 1, 2]),
          Buffer.from([0, 0, 0x7f, 0, 0, 2]),
          frame(id, Buffer.from([2, 200, 1])),
        ];
        for (const bytes of poison) await rig.inject('trace.raw', 'k', bytes);
        await log.publish([event('k', 2)]);
        const seen: number[] = [];
        const consume = (opened: typeof log) =>
          opened.consume({
            group: 'g',
            topics: ['trace.raw'],
            startAt: async () => 0,
            onBatch: async ({ records }) => void seen.push(...records.map((one) => one.value.seq)),
          });
        const running = consume(log);
        await until(() => seen.length === 2);
        await running.stop();
        const again = consume(await rig.open());
        await until(() => seen.length === 4);
        await again.stop();
        expect(seen).toEqual([1, 2, 1, 2]);
        const letters = await everything(log, 'deadletter');
        expect(letters.map((one) => one.value.source_offset)).toEqual(poison.map((_, index) => index + 1));
        expect(letters.map((one) => rig.unseal(Buffer.from(one.value.content ?? [])))).toEqual(poison);
        expect(letters.map((one) => one.value.reason)).toEqual([
          'bad_frame',
          'bad_frame',
          'bad_frame',
          'undecodable',
          'bad_frame',
          'unknown_schema',
          'undecodable',
        ]);
        expect(letters[0]?.value).toMatchObject({ source_topic: 'trace.raw', group: 'g', key: 'k' });
        expect(log.counters().deadLetters).toBe(poison.length);
      }));

    test('two members share the partitions, never one at once, and one goes on alone', () =>
      rigged(async (rig) => {
        const logs = [await rig.open(), await rig.open()];
        const busy = new Set<number>();
        const served = [new Set<number>(), new Set<number>()];
        const done: string[] = [];
        const members = logs.map((log, index) =>
          log.consume({
            group: 'g',
            topics: ['trace.raw'],
            onBatch: async ({ partition, records }) => {
              expect(busy.has(partition)).toBe(false);
              busy.add(partition);
              await new Promise((resolve) => setImmediate(resolve));
              served[index]?.add(partition);
              done.push(...records.map((one) => one.value.event_id));
              busy.delete(partition);
            },
          }),
        );
        let round = 0;
        await until(async () => {
          await logs[0]?.publish(KEYS.map((key) => event(key, round)));
          round++;
          return served.every((one) => one.size > 0);
        });
        await members[0]?.stop();
        await logs[0]?.publish(KEYS.map((key) => event(key, round)));
        round++;
        await until(() => done.length >= round * KEYS.length);
        await members[1]?.stop();
        expect(new Set(done).size).toBe(round * KEYS.length);
        expect(done).toHaveLength(round * KEYS.length);
      }));
  });
}
