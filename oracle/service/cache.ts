import { z } from 'zod';
import { sha256 } from '../../schemas/hash.ts';
import type { OracleDb } from '../db.ts';
import type { Oracle } from '../oracle.ts';
import { factsOf, type RequestRow } from './requests.ts';

const Cached = z.object({
  code: z.enum(['PASS', 'FAIL']),
  principal: z.string(),
  request_id: z.string(),
  /** How long its asker waited for the run, milliseconds. */
  run_ms: z.number(),
  release_at: z.number(),
});
/** How a diff was graded before, by the same tests in the same place. ERROR is never remembered. */
export type Cached = z.infer<typeof Cached>;

/** Everything that decides a verdict: the same key, the same answer. */
export function cacheKey(oracle: Oracle, request: RequestRow): string {
  const { task_id, tests_hash, diff_hash } = request;
  const { image } = factsOf(request);
  return sha256(
    JSON.stringify([task_id, tests_hash, image, oracle.runner.kind, oracle.runner.version, diff_hash]),
  );
}

export function findCached(db: OracleDb, key: string): Cached | null {
  const row = db.sql.prepare('select * from cache where cache_key = ?').get(key);
  return row ? Cached.parse(row) : null;
}

/** Inside the transaction that notes the result; the first one stays. */
export function remember(db: OracleDb, key: string, found: Cached): void {
  db.sql
    .prepare(
      `insert or ignore into cache (cache_key, code, principal, request_id, run_ms, release_at)
       values (:key, :code, :principal, :request_id, :run_ms, :release_at)`,
    )
    .run({ key, ...found });
}

/** A verdict that was withdrawn answers nobody else. */
export function forgetCached(oracle: Oracle, request: RequestRow): void {
  oracle.db.sql.prepare('delete from cache where cache_key = ?').run(cacheKey(oracle, request));
}
