import { fc } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { createQueue, type Needs } from './queue.ts';

const roomFor = (concurrency: number) => ({ concurrency, cpus: 4, memory_mb: 1000 });
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A queue whose jobs note their host when they begin and end when told to. */
function recorded(concurrency: number, limit: number) {
  const queue = createQueue(roomFor(concurrency), limit);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const add = (host: string, needs?: Needs) =>
    queue.add(
      host,
      () => {
        begun.push(host);
        return new Promise((resolve) => ends.push(() => resolve()));
      },
      needs,
    );
  return { add, begun, endOne: () => ends.shift()?.(), queue };
}

test('hosts take turns, however much one of them asks', async () => {
  const { add, begun, endOne } = recorded(1, 100);
  for (const host of ['a', 'a', 'a', 'a', 'b', 'b', 'c']) add(host);
  for (let at = 0; at < 7; at++) {
    endOne();
    await settled();
  }
  expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
});

test('the machine\u2019s processors and memory bound what runs, and nothing that is large is passed by for ever', async () => {
  const { add, begun, endOne } = recorded(9, 100);
  const [small, large] = [
    { cpus: 1, memory_mb: 300 },
    { cpus: 4, memory_mb: 2000 },
  ];
  for (const host of ['a', 'b', 'c', 'd']) add(host, small);
  expect(begun).toEqual(['a', 'b', 'c']);
  endOne();
  await settled();
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  add('large', large);
  add('e', small);
  for (let at = 0; at < 2; at++) {
    endOne();
    await settled();
    expect(begun).toHaveLength(4);
  }
  endOne();
  await settled();
  expect(begun.slice(4)).toEqual(['large']);
  endOne();
  await settled();
  expect(begun.slice(4)).toEqual(['large', 'e']);
  add('f', { cpus: 3.5, memory_mb: 0 });
  expect(begun.slice(5)).toEqual(['e']);
});

test('one host that fills the queue leaves the others their share', () => {
  const { add } = recorded(1, 4);
  const flood = Array.from({ length: 10 }, () => add('flood'));
  expect(flood.filter(Boolean)).toHaveLength(5);
  expect([add('b'), add('b'), add('b')]).toEqual([true, true, false]);
  expect([add('c'), add('c'), add('flood')]).toEqual([true, false, false]);
});

test('every job that was taken runs once, never more at a time than allowed, and the queue stays bounded', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 9 }),
      async (hosts, concurrency, limit) => {
        const queue = createQueue(roomFor(concurrency), limit);
        let now = 0;
        let most = 0;
        let ran = 0;
        const taken = hosts.filter((host) =>
          queue.add(host, async () => {
            most = Math.max(most, ++now);
            await settled();
            now--;
            ran++;
          }),
        );
        expect(taken.length).toBeLessThanOrEqual(concurrency + 2 * limit);
        for (let at = 0; at < hosts.length + 2; at++) await settled();
        expect([ran, now]).toEqual([taken.length, 0]);
        expect(most).toBeLessThanOrEqual(concurrency);
      },
    ),
    { numRuns: 50 },
  );
});
