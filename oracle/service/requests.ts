import { z } from 'zod';
import { AnswerCode } from '../../schemas/grade.ts';
import { parseJson } from '../../schemas/parse-json.ts';
import type { OracleDb } from '../db.ts';
import type { Sealer } from '../sealed/sealer.ts';
import { sealText } from '../sealed/text.ts';

/** What the verdict will say of the task, as it was when the request was taken on. */
const Facts = z.object({
  base_commit: z.string(),
  family: z.string().nullable(),
  split: z.string(),
  image: z.string().nullable(),
  evidence: z.string(),
  baseline_id: z.string(),
  placement: z.enum(['same_host', 'separate_host']),
  /** Why the asker could build no diff. */
  diff_missing: z.string().nullable(),
});
export type Facts = z.infer<typeof Facts>;

/**
 * A request that was taken on. queued → graded (how it ended is known, nobody was told) → released (signed,
 * chained, queued for publication, and only then answered).
 */
export const RequestRow = z.object({
  id: z.number(),
  principal: z.string(),
  request_id: z.string(),
  /** Hash of everything it asks: the same id with another question is another question. */
  fingerprint: z.string(),
  session_id: z.string(),
  task_id: z.string(),
  chain_id: z.string(),
  head: z.string(),
  diff_hash: z.string(),
  tests_hash: z.string(),
  /** JSON of `Facts`. */
  facts: z.string(),
  received_at: z.number(),
  state: z.enum(['queued', 'graded', 'released']),
  code: AnswerCode.extract(['PASS', 'FAIL', 'ERROR']).nullable(),
  /** Sealed, since it names tests. */
  reason: z.string().nullable(),
  cached_from: z.string().nullable(),
  release_at: z.number().nullable(),
  verdict_id: z.string().nullable(),
});
export type RequestRow = z.infer<typeof RequestRow>;
export type NewRequest = Omit<
  RequestRow,
  'id' | 'state' | 'code' | 'reason' | 'cached_from' | 'release_at' | 'verdict_id'
>;

export function factsOf(request: RequestRow): Facts {
  return Facts.parse(parseJson(request.facts));
}

const Count = z.object({ n: z.number() });

export function findRequest(db: OracleDb, principal: string, requestId: string): RequestRow | null {
  const row = db.sql
    .prepare('select * from requests where principal = ? and request_id = ?')
    .get(principal, requestId);
  return row ? RequestRow.parse(row) : null;
}

export function requestById(db: OracleDb, id: number): RequestRow {
  return RequestRow.parse(db.sql.prepare('select * from requests where id = ?').get(id));
}

/** Requests without a result, oldest first: what a restarted service has to grade. */
export function unfinished(db: OracleDb): RequestRow[] {
  return db.sql
    .prepare("select * from requests where state = 'queued' order by id")
    .all()
    .map((row) => RequestRow.parse(row));
}

/**
 * Results whose moment has come, in the order in which they were asked for, and an original before what was copied from
 * it. Not in the order in which they were found: that, too, is a time, and shows in a verdict's place in its chain.
 */
export function due(db: OracleDb, now: number): RequestRow[] {
  return db.sql
    .prepare(
      "select * from requests where state = 'graded' and release_at <= ? order by release_at, cached_from is not null, id",
    )
    .all(now)
    .map((row) => RequestRow.parse(row));
}

/** When something is to be released next, or null. */
export function nextRelease(db: OracleDb): number | null {
  const row = db.sql.prepare("select min(release_at) n from requests where state = 'graded'").get();
  return z.object({ n: z.number().nullable() }).parse(row).n;
}

export interface Budget {
  max_attempts: number;
  daily_cap: number;
}

/** An infrastructure that is down makes ERRORs, which use no attempt; a host still cannot ask without end. */
const ASKS_PER_GRADE = 5;
const DAY = 86_400_000;

/**
 * Takes a request on if its budget allows it, and counts those still being graded as attempts, so that no number
 * of requests at once goes beyond it. Inside a transaction.
 * @returns its row, or null when the budget is spent.
 */
export function acceptRequest(db: OracleDb, request: NewRequest, budget: Budget): RequestRow | null {
  const { principal, task_id, session_id, received_at } = request;
  const spends = "(code is null or code <> 'ERROR')";
  const count = (where: string, ...values: (string | number)[]) =>
    Count.parse(db.sql.prepare(`select count(*) n from requests where ${where}`).get(...values)).n;
  const today = received_at - (received_at % DAY);
  const own = 'principal = ? and task_id = ?';
  if (count(`${own} and session_id = ? and ${spends}`, principal, task_id, session_id) >= budget.max_attempts)
    return null;
  const cap = budget.daily_cap;
  if (count(`${own} and received_at >= ? and ${spends}`, principal, task_id, today) >= cap) return null;
  if (count(`${own} and received_at >= ?`, principal, task_id, today) >= cap * ASKS_PER_GRADE) return null;
  const { lastInsertRowid } = db.sql
    .prepare(
      `insert into requests (principal, request_id, fingerprint, session_id, task_id, chain_id, head, diff_hash,
         tests_hash, facts, received_at, state)
       values (:principal, :request_id, :fingerprint, :session_id, :task_id, :chain_id, :head, :diff_hash,
         :tests_hash, :facts, :received_at, 'queued')`,
    )
    .run({ ...request });
  return requestById(db, Number(lastInsertRowid));
}

export interface Finding {
  code: 'PASS' | 'FAIL' | 'ERROR';
  reason: string;
  cached_from: string | null;
  release_at: number;
}

/** Under which the reason of a request is sealed. */
export const requestReasonName = (id: number) => `request-${id}.reason`;

/** Notes how a request ended. From here on a crash costs no second run. */
export function finishRequest(
  { db, sealer }: { db: OracleDb; sealer: Sealer },
  id: number,
  finding: Finding,
): void {
  db.sql
    .prepare(
      `update requests set state = 'graded', code = :code, reason = :reason, cached_from = :cached_from,
         release_at = :release_at
       where id = :id and state = 'queued'`,
    )
    .run({
      code: finding.code,
      reason: sealText(sealer, requestReasonName(id), finding.reason),
      cached_from: finding.cached_from,
      release_at: finding.release_at,
      id,
    });
}

/** Attempts signed so far for the request's session and task. */
export function signedAttempts(db: OracleDb, { principal, task_id, session_id }: RequestRow): number {
  const row = db.sql
    .prepare(
      `select count(*) n from requests where principal = ? and task_id = ? and session_id = ?
         and state = 'released' and code <> 'ERROR'`,
    )
    .get(principal, task_id, session_id);
  return Count.parse(row).n;
}

/** Requests of a task that were answered PASS or FAIL and still stand, oldest first. */
export function gradedOf(db: OracleDb, taskId: string): RequestRow[] {
  return db.sql
    .prepare(
      `select * from requests where task_id = ? and state = 'released' and code <> 'ERROR'
         and retracted_by is null order by id`,
    )
    .all(taskId)
    .map((row) => RequestRow.parse(row));
}

export function markRetracted(db: OracleDb, id: number, verdictId: string): void {
  db.sql.prepare('update requests set retracted_by = ? where id = ?').run(verdictId, id);
}

export function markReleased(db: OracleDb, id: number, verdictId: string): void {
  db.sql.prepare("update requests set state = 'released', verdict_id = ? where id = ?").run(verdictId, id);
}

/** When a diff was last asked about, and whether every request for it has been answered; null: none ever was. */
export function lastAsked(db: OracleDb, diffHash: string): { at: number; settled: boolean } | null {
  const row = db.sql
    .prepare("select max(received_at) at, sum(state <> 'released') open from requests where diff_hash = ?")
    .get(diffHash);
  const { at, open } = z.object({ at: z.number().nullable(), open: z.number().nullable() }).parse(row);
  return at === null ? null : { at, settled: open === 0 };
}
