import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../schemas/make-folder.ts';
import { isoTime } from '../schemas/time.ts';
import type { OracleDb } from './db.ts';
import { createFile, replaceFile } from './files.ts';
import type { OracleHome } from './home.ts';
import type { RunResult } from './runner/runner.ts';
import type { Sealer } from './sealed/sealer.ts';
import { openText, sealText } from './sealed/text.ts';
import type { StoreAt } from './tasks/store.ts';

const RunRow = z.object({
  run_id: z.string(),
  kind: z.enum(['baseline', 'reference', 'grade', 'control', 'by_hand', 'regrade', 'signal']),
  task_id: z.string(),
  principal: z.string().nullable(),
  request_id: z.string().nullable(),
  session_id: z.string().nullable(),
  at: z.string(),
  code: z.string(),
  reason: z.string().nullable(),
});
export type RunRow = z.infer<typeof RunRow>;

/** Everything about one run, for the people who operate the oracle; never shown to the agent's side. */
export interface RunLog extends RunRow {
  tests_hash: string;
  diff_hash: string | null;
  diff_missing: string | null;
  runner: string;
  result: RunResult;
}

/** Under which the reason of a run is sealed: it names tests. */
export const reasonName = (runId: string) => `${runId}.reason`;
const runName = (runId: string) => `${runId}.run`;
const diffName = (hash: string) => `${hash}.diff`;
const runPath = (home: OracleHome, runId: string) => join(home.log, 'runs', runName(runId));
const diffPath = (home: OracleHome, hash: string) => join(home.log, 'diffs', diffName(hash));

/** Writes a run's whole log, sealed since tests' output tells of tests, and its line in the index. */
export function logRun({ home, sealer, db }: StoreAt & { db: OracleDb }, run: RunLog): void {
  makeFolder(join(home.log, 'runs'));
  const text = Buffer.from(`${JSON.stringify(run, null, 2)}\n`);
  replaceFile(runPath(home, run.run_id), sealer.seal(runName(run.run_id), text));
  const row = RunRow.parse(run);
  db.sql
    .prepare(
      `insert or replace into runs (run_id, kind, task_id, principal, request_id, session_id, at, code, reason)
       values (:run_id, :kind, :task_id, :principal, :request_id, :session_id, :at, :code, :reason)`,
    )
    .run({ ...row, reason: row.reason && sealText(sealer, reasonName(row.run_id), row.reason) });
}

export interface RunFilter {
  task_id?: string;
  session_id?: string;
  request_id?: string;
  /** The newest this many; 50 if not given. */
  limit?: number;
}

/** `oracle log show`: the index of runs, newest first. */
export function listRuns({ db, sealer }: { db: OracleDb; sealer: Sealer }, filter: RunFilter = {}): RunRow[] {
  const { limit = 50, ...fields } = filter;
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const where = given.map(([name]) => `${name} = :${name}`).join(' and ');
  const query = `select * from runs ${where ? `where ${where}` : ''} order by id desc limit :limit`;
  return db.sql
    .prepare(query)
    .all({ ...Object.fromEntries(given), limit })
    .map((row) => RunRow.parse(row))
    .map((row) => ({
      ...row,
      reason: row.reason && openText(sealer, reasonName(row.run_id), row.reason),
    }));
}

/** One run's whole log as JSON text, or null. */
export function readRun({ home, sealer }: StoreAt, runId: string): string | null {
  const known = /^[0-9a-zA-Z-]+$/.test(runId) && existsSync(runPath(home, runId));
  return known ? sealer.open(runName(runId), readFileSync(runPath(home, runId))).toString('utf8') : null;
}

/** Removes the whole logs of runs of before a time; their lines in the index stay. @returns how many */
export function dropRuns({ home, db }: { home: OracleHome; db: OracleDb }, before: number): number {
  const dir = join(home.log, 'runs');
  const kept = new Set(existsSync(dir) ? readdirSync(dir) : []);
  const old = db.sql
    .prepare('select run_id from runs where at < ?')
    .all(isoTime(before))
    .map((row) => runName(z.object({ run_id: z.string() }).parse(row).run_id))
    .filter((name) => kept.has(name));
  for (const name of old) rmSync(join(dir, name), { force: true });
  return old.length;
}

/** Keeps the exact diff of a request, sealed, so that a restart and a regrade have it. */
export function keepDiff({ home, sealer }: StoreAt, hash: string, diff: Buffer): void {
  makeFolder(join(home.log, 'diffs'));
  createFile(diffPath(home, hash), sealer.seal(diffName(hash), diff));
}

/** The diff of this hash, or null when its retention is over. */
export function readDiff({ home, sealer }: StoreAt, hash: string): Buffer | null {
  const path = diffPath(home, hash);
  return existsSync(path) ? sealer.open(diffName(hash), readFileSync(path)) : null;
}

/** The diffs that are kept, and since when, epoch milliseconds. */
export function keptDiffs({ home }: StoreAt): { hash: string; kept_at: number }[] {
  const dir = join(home.log, 'diffs');
  const names = existsSync(dir) ? readdirSync(dir) : [];
  return names
    .filter((name) => name.endsWith('.diff'))
    .map((name) => ({
      hash: name.slice(0, -'.diff'.length),
      kept_at: statSync(join(dir, name)).mtimeMs,
    }));
}

export function dropDiff({ home }: StoreAt, hash: string): void {
  rmSync(diffPath(home, hash), { force: true });
}
