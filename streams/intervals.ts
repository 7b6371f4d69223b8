/** Closed intervals of integers in a list sorted by start, never touching: `[[0, 4], [7, 9]]`. */
export type Interval = [from: number, to: number];

/** Of ranges sorted by their ends, the index of the first that ends at `n` or later; their count when there is none. */
export function firstEnding(count: number, n: number, endOf: (at: number) => number): number {
  // Records come in order almost always: then the last range is the one.
  if (count === 0 || n > endOf(count - 1)) return count;
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endOf(middle) < n) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the first interval that ends at `n` or later; the list's length when there is none. */
export function positionOf(list: readonly Interval[], n: number): number {
  return firstEnding(list.length, n, (at) => list[at]?.[1] ?? 0);
}

export function has(list: readonly Interval[], n: number): boolean {
  const found = list[positionOf(list, n)];
  return found !== undefined && found[0] <= n;
}

/** Adds `n` in place. Returns whether it is new. */
export function add(list: Interval[], n: number): boolean {
  const at = positionOf(list, n);
  const here = list[at];
  if (here && here[0] <= n) return false;
  const before = list[at - 1];
  const joinsBefore = before !== undefined && before[1] === n - 1;
  const joinsHere = here !== undefined && here[0] === n + 1;
  if (joinsBefore && joinsHere) {
    before[1] = here[1];
    list.splice(at, 1);
  } else if (joinsBefore) before[1] = n;
  else if (joinsHere) here[0] = n;
  else list.splice(at, 0, [n, n]);
  return true;
}

/** How many integers the intervals hold. */
export function size(list: readonly Interval[]): number {
  return list.reduce((sum, [from, to]) => sum + to - from + 1, 0);
}
