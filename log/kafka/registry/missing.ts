import { LRUCache } from 'lru-cache';
import { FlipstreamError } from '../../../schemas/errors.ts';
import type { Clock } from '../../../schemas/time.ts';
import { createNoes } from './noes.ts';

/** A registry that lags behind its writers gets this long, from the first "no such schema" to the last. */
const SURE_MS = 60_000;
/** An answer is not asked for again within this time. */
export const ASK_MS = 1_000;
/** After this the registry is asked about a missing id again: it may have been restored. */
const FORGET_MS = 600_000;
/** Broken records name ids at random. */
const MOST_IDS = 10_000;

/** What is remembered of ids that the registry says it does not have. */
interface Missing {
  /** @throws FlipstreamError as `note`, when the last answer is recent enough to stand. */
  check(id: number): void;
  /** The registry said "no such schema". @throws FlipstreamError `schema_pending` (retryable), `unknown_schema` (poison) */
  note(id: number): never;
  /** It gave another answer, or none. */
  forget(id: number): void;
}

export function createMissing(clock: Clock): Missing {
  const noes = createNoes<number>(clock, SURE_MS, MOST_IDS);
  const last = new LRUCache<number, { at: number; sure: boolean }>({ max: MOST_IDS });

  function refuse(id: number, sure: boolean): never {
    if (sure)
      throw new FlipstreamError(
        'unknown_schema',
        'poison',
        `the schema registry has no schema with the id ${id}`,
      );
    throw new FlipstreamError(
      'schema_pending',
      'retryable',
      `the schema registry has no schema with the id ${id} yet; after a minute of that the record is set aside`,
    );
  }

  return {
    check(id) {
      const known = last.get(id);
      if (known && clock() - known.at < (known.sure ? FORGET_MS : ASK_MS)) refuse(id, known.sure);
    },
    note(id) {
      const sure = noes.note(id);
      last.set(id, { at: clock(), sure });
      return refuse(id, sure);
    },
    forget(id) {
      noes.forget(id);
      last.delete(id);
    },
  };
}
