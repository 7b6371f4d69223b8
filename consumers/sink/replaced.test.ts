import { expect, test } from 'vitest';
import { refuseReplaced } from './replaced.ts';

const landed = new Map([['cluster/topic-1/trace.events/0', 120]]);

test('another topic, or another cluster, in the place of the one that landed is refused, and the gap is named', () => {
  for (const id of ['cluster/topic-2', 'elsewhere/topic-1'])
    expect(() => refuseReplaced(landed, id, 'trace.events', 0)).toThrow(
      expect.objectContaining({
        code: 'log_replaced',
        message: expect.stringMatching(/up to 119 .* from offset 120 on/),
      }),
    );
});

test('a cluster in the place of the home\u2019s own log is refused: that has to be moved', () => {
  const own = new Map([['5f3a/trace.events/0', 9]]);
  expect(() => refuseReplaced(own, 'cluster/topic-1', 'trace.events', 0)).toThrow(/flipstream kafka move/);
});

test.each([
  ['the same topic', landed, 'cluster/topic-1', 0],
  ['another partition', landed, 'cluster/topic-2', 1],
  [
    'one that was accepted before',
    new Map([...landed, ['cluster/topic-2/trace.events/0', 7]]),
    'cluster/topic-2',
    0,
  ],
  ['a home that was made anew', new Map([['5f3a/trace.events/0', 9]]), '77aa', 0],
] as const)('%s goes on', (_, txns, id, partition) => {
  expect(() => refuseReplaced(txns, id, 'trace.events', partition)).not.toThrow();
});
