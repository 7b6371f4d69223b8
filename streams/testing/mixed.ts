import fc from 'fast-check';

/** Any order of the list, and some of it once more at any place. For tests of what no order may change. */
export function mixed<T>(list: readonly T[]): fc.Arbitrary<T[]> {
  const places = list.map((_, index) => index);
  if (places.length === 0) return fc.constant([]);
  return fc
    .record({
      order: fc.shuffledSubarray(places, { minLength: places.length }),
      again: fc.array(fc.record({ which: fc.constantFrom(...places), at: fc.nat() }), { maxLength: 30 }),
    })
    .map(({ order, again }) => {
      const mix = [...order];
      for (const { which, at } of again) mix.splice(at % (mix.length + 1), 0, which);
      return mix.flatMap((index) => list.slice(index, index + 1));
    });
}
