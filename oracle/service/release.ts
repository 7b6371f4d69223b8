import { sha256 } from '../../schemas/hash.ts';
import { isoTime } from '../../schemas/time.ts';
import { appendVerdict, findVerdict } from '../keys/chain.ts';
import type { Oracle } from '../oracle.ts';
import { queueVerdict } from '../outbox.ts';
import { ORACLE_VERSION } from '../version.ts';
import { due, factsOf, markReleased, type RequestRow, signedAttempts } from './requests.ts';

/** The one id of a request's verdict, whenever and however often it is made. */
export function verdictIdOf(principal: string, requestId: string): string {
  return sha256(JSON.stringify(['verdict', principal, requestId]));
}

/**
 * Signs every result whose moment has come: verdict, place in the key's chain, and outbox in one transaction, so
 * that what is answered afterwards can never be lost, and nothing is published under two ids.
 * @param at the release time that the records carry.
 * @returns the requests that may now be answered.
 */
export function releaseDue(oracle: Oracle, at: number): RequestRow[] {
  const { db } = oracle;
  return db.transaction(() => {
    const rows = due(db, at);
    for (const row of rows) signOne(oracle, row, at);
    return rows;
  });
}

function signOne(oracle: Oracle, row: RequestRow, at: number): void {
  const { db } = oracle;
  const facts = factsOf(row);
  const baseline = findVerdict(db, facts.baseline_id);
  const code = row.code ?? 'ERROR';
  const verdict = appendVerdict(db, oracle.key, {
    v: 1,
    verdict_id: verdictIdOf(row.principal, row.request_id),
    request_id: row.request_id,
    requester: row.principal,
    session_id: row.session_id,
    chain_id: row.chain_id,
    head: row.head,
    attempt: code === 'ERROR' ? null : signedAttempts(db, row) + 1,
    task_id: row.task_id,
    task_family: facts.family,
    task_split: facts.split,
    mode: 'grade',
    verdict: code,
    base_commit: facts.base_commit,
    tests_hash: row.tests_hash,
    diff_hash: row.diff_hash,
    image: facts.image,
    runner: oracle.runner.kind,
    placement: facts.placement,
    evidence: facts.evidence,
    oracle_host: oracle.oracleHost,
    oracle_version: ORACLE_VERSION,
    released_at: isoTime(at),
    cached_from: row.cached_from,
    retracts: null,
  });
  if (baseline && firstIn(oracle, row.session_id, baseline.verdict_id))
    queueVerdict(db, row.session_id, baseline, row.principal);
  queueVerdict(db, row.session_id, verdict, row.principal);
  markReleased(db, row.id, verdict.verdict_id);
}

/** Whether the baseline has not been copied under this session's key yet. */
function firstIn(oracle: Oracle, sessionId: string, baselineId: string): boolean {
  const { changes } = oracle.db.sql
    .prepare('insert or ignore into baseline_copies (session_id, verdict_id) values (?, ?)')
    .run(sessionId, baselineId);
  return Number(changes) > 0;
}
