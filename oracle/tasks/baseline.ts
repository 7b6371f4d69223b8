import { randomUUID } from 'node:crypto';
import { appendVerdict } from '../keys/chain.ts';
import type { Oracle } from '../oracle.ts';
import { ORACLE_VERSION } from '../version.ts';
import type { StoredTask } from './store.ts';

/**
 * Signs that the hidden tests fail at the base commit; inside a transaction. Once a check: each graded session gets
 * a copy under its own key before its first verdict.
 * @returns the verdict's id.
 */
export function signBaseline(oracle: Oracle, { definition, tests_hash }: StoredTask, at: string): string {
  return appendVerdict(oracle.db, oracle.key, {
    v: 1,
    verdict_id: randomUUID(),
    request_id: null,
    requester: null,
    session_id: null,
    chain_id: null,
    head: null,
    attempt: 0,
    task_id: definition.task_id,
    task_family: definition.family,
    task_split: definition.split,
    mode: 'baseline',
    verdict: 'FAIL',
    base_commit: definition.base_commit,
    tests_hash,
    diff_hash: null,
    image: definition.image,
    runner: oracle.runner.kind,
    placement: 'same_host',
    evidence: definition.evidence,
    oracle_host: oracle.oracleHost,
    oracle_version: ORACLE_VERSION,
    released_at: at,
    cached_from: null,
    retracts: null,
  }).verdict_id;
}
