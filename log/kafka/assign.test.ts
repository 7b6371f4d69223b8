import { fc, test as prop } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { deal, readShare, readStanding, shareOf, standingOf } from './assign.ts';

const Members = fc.uniqueArray(
  fc.record({ memberId: fc.string({ minLength: 1 }), holds: fc.array(fc.nat(20)) }),
  { selector: ({ memberId }) => memberId, minLength: 1, maxLength: 8 },
);

prop.prop([Members, fc.integer({ min: 1, max: 16 })])(
  'every partition is dealt to one member, and nobody has two more than another',
  (members, partitions) => {
    const dealt = deal(members, partitions);
    const all = [...dealt.values()].flat().sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: partitions }, (_, p) => p));
    const sizes = [...dealt.values()].map((share) => share.length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    expect(dealt.size).toBe(members.length);
  },
);

prop.prop([Members, fc.integer({ min: 1, max: 16 })])(
  'dealing again moves nothing',
  (members, partitions) => {
    const first = deal(members, partitions);
    const again = [...first].map(([memberId, holds]) => ({ memberId, holds }));
    for (const [memberId, share] of deal(again, partitions))
      expect([...share].sort()).toEqual([...(first.get(memberId) ?? [])].sort());
  },
);

test('one that comes takes its share and no more', () => {
  const dealt = deal(
    [
      { memberId: 'b', holds: [0, 1, 2, 3, 4, 5] },
      { memberId: 'a', holds: [] },
    ],
    6,
  );
  expect(dealt.get('b')).toEqual([0, 1, 2]);
  expect(dealt.get('a')).toEqual([3, 4, 5]);
});

test('what members and leader send each other can be read again, and rubbish is nothing', () => {
  expect(readStanding(standingOf(['a', 'b'], [3, 1]))).toEqual([3, 1]);
  expect(readStanding(Buffer.from([1, 2, 3]))).toEqual([]);
  expect(readShare(shareOf(['a', 'b'], [2, 5]), 'b')).toEqual([2, 5]);
});
