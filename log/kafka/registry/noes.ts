import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../schemas/time.ts';

/**
 * Who waits for an answer asks every few seconds. Noes further apart than this are of two occasions: a registry that
 * starts says no each time, also of what it has.
 */
const APART_MS = 20_000;

/** Tells a no that lasts from one that a registry gives while it is starting. */
export interface Noes<K> {
  /** One more no. @returns whether nothing else has been said for long enough */
  note(key: K): boolean;
  /** There was another answer, or none: the next no is the first again. */
  forget(key: K): void;
}

/** @param sureMs how long it must have said no, without another answer and without a pause */
export function createNoes<K extends string | number>(clock: Clock, sureMs: number, most: number): Noes<K> {
  const seen = new LRUCache<K, { first: number; last: number }>({ max: most });
  return {
    note(key) {
      const now = clock();
      const before = seen.get(key);
      const first = before && now - before.last <= APART_MS ? before.first : now;
      seen.set(key, { first, last: now });
      return now - first >= sureMs;
    },
    forget: (key) => void seen.delete(key),
  };
}
