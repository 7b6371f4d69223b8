import { FlipstreamError } from '../schemas/errors.ts';
import { sha256 } from '../schemas/hash.ts';
import { isoTime } from '../schemas/time.ts';
import { gradeDiff } from './grade-diff.ts';
import { appendVerdict, findVerdict } from './keys/chain.ts';
import type { Oracle } from './oracle.ts';
import { queueVerdict } from './outbox.ts';
import { readDiff } from './private-log.ts';
import { forgetCached } from './service/cache.ts';
import { factsOf, gradedOf, markRetracted, type RequestRow } from './service/requests.ts';
import { readyTask } from './tasks/rows.ts';
import type { StoredTask } from './tasks/store.ts';
import { ORACLE_VERSION } from './version.ts';

export interface Regraded {
  request_id: string;
  session_id: string;
  verdict_id: string;
  before: 'PASS' | 'FAIL';
  /** Null when it was left alone. */
  now: 'PASS' | 'FAIL' | 'ERROR' | null;
  /** Why it was left alone; null when it was run. */
  left: string | null;
  retracted: boolean;
}

/**
 * `oracle regrade`: runs the kept diffs of a task's graded requests again, with the task as it is now, and withdraws
 * every PASS that no longer is one. A FAIL that would pass now stays: nobody can have worked on after it as after
 * a PASS. What cannot be run now (ERROR, no diff) changes nothing, and neither does what began at another base commit:
 * that its diff does not apply to this one says nothing of it.
 * @throws FlipstreamError `task_not_ready` (usage).
 */
export async function regrade(
  oracle: Oracle,
  taskId: string,
  onProgress: (done: number, of: number) => void = () => {},
): Promise<Regraded[]> {
  const task = readyTask(oracle, taskId);
  if (!task)
    throw new FlipstreamError(
      'task_not_ready',
      'usage',
      `task ${taskId} is not ready, so that its tests decide nothing; run: flipstream oracle task check ${taskId}`,
    );
  const rows = gradedOf(oracle.db, taskId);
  const [ofOthers, ofThis] = split(rows, (row) => factsOf(row).base_commit !== task.definition.base_commit);
  const found = ofOthers.map((row) => leftAlone(row, 'began at another base commit'));
  for (const [diff_hash, alike] of Map.groupBy(ofThis, (row) => row.diff_hash)) {
    const diff = readDiff(oracle, diff_hash);
    const code = diff ? (await gradeDiff(oracle, task, { kind: 'regrade', diff, diff_hash })).code : null;
    for (const row of alike)
      found.push(code ? settle(oracle, row, code, task) : leftAlone(row, 'its diff is no longer kept'));
    onProgress(found.length, rows.length);
  }
  return found;
}

function split<T>(all: readonly T[], is: (one: T) => boolean): [T[], T[]] {
  return [all.filter(is), all.filter((one) => !is(one))];
}

function settle(oracle: Oracle, row: RequestRow, now: Regraded['now'], task: StoredTask): Regraded {
  const one = leftAlone(row, null);
  const retracted = one.before === 'PASS' && now === 'FAIL';
  if (retracted) oracle.db.transaction(() => withdraw(oracle, row, task));
  return { ...one, now, retracted };
}

function leftAlone({ request_id, session_id, verdict_id, code }: RequestRow, left: string | null): Regraded {
  const before = code === 'PASS' ? 'PASS' : 'FAIL';
  return { request_id, session_id, verdict_id: verdict_id ?? '', before, now: null, left, retracted: false };
}

/** Signs that a verdict no longer counts, by the task as it is now; it keeps its place in the key's chain. */
function withdraw(oracle: Oracle, row: RequestRow, { definition, tests_hash }: StoredTask): void {
  const { db } = oracle;
  const original = findVerdict(db, row.verdict_id ?? '');
  if (!original) throw new Error(`the verdict of request ${row.request_id} is not in the database`);
  const { signature: _, key_id: __, oracle_seq: ___, oracle_prev: ____, ...same } = original;
  const verdict = appendVerdict(db, oracle.key, {
    ...same,
    verdict_id: sha256(JSON.stringify(['regrade', original.verdict_id, tests_hash])),
    request_id: null,
    attempt: null,
    mode: 'regrade',
    verdict: 'FAIL',
    tests_hash,
    image: definition.image,
    evidence: definition.evidence,
    oracle_version: ORACLE_VERSION,
    released_at: isoTime(oracle.clock()),
    cached_from: null,
    retracts: original.verdict_id,
  });
  queueVerdict(db, row.session_id, verdict, row.principal);
  markRetracted(db, row.id, verdict.verdict_id);
  forgetCached(oracle, row);
}
