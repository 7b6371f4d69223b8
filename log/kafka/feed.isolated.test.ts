import { expect, test, vi } from 'vitest';
import { createFeed } from './feed.ts';
import { type Fetched, fetchFrom, type Wanted } from './fetch.ts';
import { boundsOf } from './offsets.ts';
import { readBatches } from './record-batch.ts';
import type { Wire } from './wire.ts';

vi.mock('./fetch.ts');
vi.mock('./offsets.ts');
vi.mock('./record-batch.ts');

const TOPIC = 'trace.events';
const OUT_OF_RANGE = 1;

/** A request that the broker holds until the test answers it. */
interface Held {
  from: number;
  answer(fetched: Partial<Fetched>): void;
  fail(error: Error): void;
}

/** A feed of one partition whose broker answers when the test says so. */
function rig() {
  const held: Held[] = [];
  vi.mocked(fetchFrom).mockImplementation((_, wanted: readonly Wanted[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<Fetched[]>();
    const from = wanted[0]?.from ?? -1;
    const nothing = { topic: TOPIC, partition: 0, error: 0, end: 0, earliest: 0, aborted: [] };
    held.push({
      from,
      answer: (fetched) => resolve([{ ...nothing, bytes: Buffer.alloc(0), ...fetched }]),
      fail: reject,
    });
    return promise;
  });
  // The bytes of these tests say at which offset their one record lies.
  vi.mocked(readBatches).mockImplementation(async (bytes, from) => {
    const offset = bytes[0];
    if (offset === undefined || offset < from) return { records: [], unreadable: [], nextOffset: from };
    const record = { offset, timestamp: 0, key: '', value: Buffer.alloc(0) };
    return { records: [record], unreadable: [], nextOffset: offset + 1 };
  });
  const wire = vi.fn<() => Wire>();
  vi.mocked(wire, { partial: true }).mockReturnValue({
    brokers: ['broker:9092'],
    ready: async () => {},
    refresh: async () => {},
    leaderOf: () => 1,
    broker: vi.fn(),
  });
  const warn = vi.fn();
  return { held, warn, feed: createFeed({ wire: wire(), warn }) };
}

test('what was fetched for a place that is wanted no more is no answer for another: nothing is passed over', async () => {
  const { held, feed } = rig();
  const ahead = feed.next(TOPIC, 0, 7);
  await vi.waitFor(() => expect(held).toHaveLength(1));
  // What was being worked on has failed: back to where it began, while the broker still holds the first request.
  feed.drop(TOPIC, 0);
  await expect(ahead).rejects.toMatchObject({ code: 'feed_closed' });
  const again = feed.next(TOPIC, 0, 3);
  held[0]?.answer({ end: 8, bytes: Buffer.from([7]) });
  await vi.waitFor(() => expect(held).toHaveLength(2));
  expect(held[1]?.from).toBe(3);
  held[1]?.answer({ end: 8, bytes: Buffer.from([3]) });
  expect((await again).records.map(({ offset }) => offset)).toEqual([3]);
  feed.close();
});

test('a place that is asked for while the bounds of an earlier one are looked up is asked for at the broker', async () => {
  const { held, feed } = rig();
  const bounds = Promise.withResolvers<{ earliest: number; end: number }>();
  vi.mocked(boundsOf).mockReturnValue(bounds.promise);
  const first = feed.next(TOPIC, 0, 2);
  await vi.waitFor(() => expect(held).toHaveLength(1));
  held[0]?.answer({ error: OUT_OF_RANGE });
  await vi.waitFor(() => expect(boundsOf).toHaveBeenCalled());
  feed.drop(TOPIC, 0);
  await expect(first).rejects.toMatchObject({ code: 'feed_closed' });
  const again = feed.next(TOPIC, 0, 5);
  bounds.resolve({ earliest: 5, end: 6 });
  await vi.waitFor(() => expect(held).toHaveLength(2));
  held[1]?.answer({ end: 6, earliest: 5, bytes: Buffer.from([5]) });
  expect((await again).records.map(({ offset }) => offset)).toEqual([5]);
  feed.close();
});

test('an outage is told once, when it has lasted for a second', async () => {
  const { held, warn, feed } = rig();
  const coming = feed.next(TOPIC, 0, 0);
  const failing = setInterval(() => held.at(-1)?.fail(new Error('no connection')), 1);
  await vi.waitFor(() => expect(warn).toHaveBeenCalled(), { timeout: 10_000 });
  const tries = held.length;
  await vi.waitFor(() => expect(held.length).toBeGreaterThan(tries + 1), { timeout: 10_000 });
  clearInterval(failing);
  expect(warn.mock.calls.map(([message]) => message)).toEqual(['records could not be fetched; trying again']);
  feed.close();
  await expect(coming).rejects.toMatchObject({ code: 'feed_closed' });
});
