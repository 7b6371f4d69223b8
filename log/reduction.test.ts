import { describe, expect, test } from 'vitest';
import { blankTask } from '../schemas/testing.ts';
import { event } from './conformance/rig.ts';
import type { Incoming, Outgoing, Reducer } from './log.ts';
import { createReduction } from './reduction.ts';
import type { Decoded, RawRecord } from './values.ts';

const encoding = {
  check: () => ({ topic: 'trace.raw' as const, key: 'k', value: Buffer.alloc(0) }),
  seal: () => Promise.reject(new Error('no reviewer')),
};

function batchOf(numbers: number[]): Decoded {
  const records: Incoming[] = numbers.map((n) => ({
    ...event('k', n),
    partition: 0,
    offset: n,
    timestamp: 0,
  }));
  const raw: RawRecord[] = numbers.map((n) => ({
    offset: n,
    timestamp: 0,
    key: 'k',
    value: Buffer.from([n]),
  }));
  const end = numbers.length;
  return {
    batch: { topic: 'trace.raw', partition: 0, records, nextOffset: end, end, earliest: 0 },
    raw,
    refused: [],
    waits: null,
  };
}

/** Sums offsets, in place: the most careless reducer that is still right. */
const sum: Reducer<{ n: number }> = {
  group: 'sum',
  inputs: ['trace.raw'],
  outputs: [],
  apply: (state, record) => {
    const own = state ?? { n: 0 };
    own.n += record.offset;
    if (record.offset === 13) throw new Error('unlucky');
    return { state: own, out: [] };
  },
};

const none = async () => new Map<string, string>();

describe('a reduction', () => {
  test('a key is written once for a batch, and not at all when nothing changed', async () => {
    const reduction = createReduction(sum, null, encoding);
    expect((await reduction.process(batchOf([1, 2, 3]), none)).states).toEqual(new Map([['k', '{"n":6}']]));
    reduction.committed();
    expect((await reduction.process(batchOf([0]), none)).states.size).toBe(0);
  });

  test('what was not committed is forgotten, though the reducer changes its state in place', async () => {
    const reduction = createReduction(sum, null, encoding);
    const stored = async () => new Map([['k', '{"n":10}']]);
    await reduction.process(batchOf([1]), stored);
    reduction.committed();
    await reduction.process(batchOf([5]), stored);
    reduction.reset();
    const again = await reduction.process(batchOf([2]), stored);
    expect(again.states).toEqual(new Map([['k', '{"n":12}']]));
  });

  test('of a compacted topic only the last value of a key is written; of others, all', async () => {
    const task = (status: string): Outgoing<'tasks'> => ({
      topic: 'tasks',
      key: 't',
      value: { ...blankTask('t'), status },
    });
    const telling: Reducer<null> = {
      group: 'telling',
      inputs: ['trace.raw'],
      outputs: ['tasks', 'trace.raw'],
      apply: (_, { offset }) => ({ state: null, out: [task(`v${offset}`), event('k', offset)] }),
    };
    const check = (out: Outgoing) => ({
      topic: out.topic,
      key: out.key,
      value: Buffer.from('status' in out.value ? String(out.value.status) : ''),
    });
    const { outputs } = await createReduction(telling, null, { ...encoding, check }).process(
      batchOf([1, 2, 3]),
      none,
    );
    const written = (topic: string) =>
      outputs.filter((out) => out.topic === topic).map((out) => String(out.value));
    expect(written('tasks')).toEqual(['v3']);
    expect(written('trace.raw')).toHaveLength(3);
  });

  test('P2 the record that throws is set aside with nothing of its left in the state', async () => {
    const reduction = createReduction(sum, null, encoding);
    const effects = await reduction.process(batchOf([1, 13, 2]), none);
    expect(effects.refused.map((one) => one.record.offset)).toEqual([13]);
    expect(effects.states).toEqual(new Map([['k', '{"n":3}']]));
  });

  test('P1 a state that cannot be read is an outage, no fault of any record', async () => {
    const reduction = createReduction(sum, null, encoding);
    const down = () => Promise.reject(new Error('the store is down'));
    await expect(reduction.process(batchOf([1, 2]), down)).rejects.toThrow('the store is down');
  });

  test('P1 a seal that fails is an outage, too', async () => {
    const making: Reducer<null> = {
      group: 'making',
      inputs: ['trace.raw'],
      outputs: ['trace.raw'],
      apply: () => ({ state: null, out: [event('k', 1)] }),
    };
    const reduction = createReduction(making, null, { ...encoding, check: () => null });
    await expect(reduction.process(batchOf([1]), none)).rejects.toThrow('no reviewer');
  });
});

test('a batch that takes long lets timers and connections have their turn: the signs of life are among them', async () => {
  const slow: Reducer<{ n: number }> = {
    ...sum,
    apply: (state, record) => {
      for (const until = performance.now() + 5; performance.now() < until; );
      return { state: { n: (state?.n ?? 0) + record.offset }, out: [] };
    },
  };
  let signs = 0;
  const beats = setInterval(() => signs++, 1);
  const reduction = createReduction(slow, null, encoding);
  const numbers = Array.from({ length: 60 }, (_, n) => n);
  const { states } = await reduction.process(batchOf(numbers), async () => new Map());
  clearInterval(beats);
  expect(signs).toBeGreaterThan(1);
  expect([...states.values()]).toEqual([JSON.stringify({ n: 1770 })]);
});
