import { z } from 'zod';
import type { OracleDb } from '../db.ts';
import { Signal } from '../tasks/definition.ts';
import type { SignalResult } from './run-signals.ts';

const Row = z.object({
  verdict_id: z.string(),
  session_id: z.string(),
  task_id: z.string(),
  name: z.string(),
  kind: Signal.shape.kind,
  passed: z.number().nullable(),
  decides: z.number(),
});
export type SignalRow = Omit<z.infer<typeof Row>, 'passed' | 'decides'> & {
  passed: boolean | null;
  decides: boolean;
};

/**
 * Keeps what was said beside a verdict; in the transaction that notes the result. On the oracle's side only: each would
 * be another bit for the agent.
 */
export function keepSignals(
  db: OracleDb,
  { verdict_id, session_id, task_id }: { verdict_id: string; session_id: string; task_id: string },
  signals: readonly SignalResult[],
): void {
  const insert = db.sql.prepare(
    `insert or replace into signals (verdict_id, session_id, task_id, name, kind, passed, decides)
     values (:verdict_id, :session_id, :task_id, :name, :kind, :passed, :decides)`,
  );
  for (const { name, kind, passed, decides } of signals)
    insert.run({
      ...{ verdict_id, session_id, task_id, name, kind },
      passed: passed === null ? null : Number(passed),
      decides: Number(decides),
    });
}

/** `oracle signals`: by verdict, in the order of the task. */
export function listSignals(db: OracleDb, taskId?: string): SignalRow[] {
  return db.sql
    .prepare('select * from signals where :task is null or task_id = :task order by rowid')
    .all({ task: taskId ?? null })
    .map(fromRow);
}

/** What was said beside one verdict, for a verdict that is copied from it. */
export function signalsOf(db: OracleDb, verdictId: string): SignalResult[] {
  return db.sql
    .prepare('select * from signals where verdict_id = ? order by rowid')
    .all(verdictId)
    .map(fromRow);
}

function fromRow(raw: unknown): SignalRow {
  const { passed, decides, ...row } = Row.parse(raw);
  return { ...row, passed: passed === null ? null : passed === 1, decides: decides === 1 };
}
