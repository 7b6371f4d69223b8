import { z } from 'zod';
import type { Log, Outgoing } from '../log/log.ts';
import { decoder, encode } from '../schemas/codec.ts';
import type { Task, Verdict } from '../schemas/generated.ts';
import type { OracleDb } from './db.ts';

const Row = z.object({
  id: z.number(),
  topic: z.enum(['oracle.verdicts', 'tasks']),
  key: z.string(),
  record: z.instanceof(Uint8Array),
});

const decodeVerdict = decoder('Verdict');
const decodeTask = decoder('Task');

/** Queues a verdict for publication; only inside the transaction that signs it. */
export function queueVerdict(db: OracleDb, key: string, verdict: Verdict): void {
  queue(db, 'oracle.verdicts', key, encode('Verdict', verdict));
}

/** Queues a task's record; only inside the transaction that changes the task. */
export function queueTask(db: OracleDb, task: Task): void {
  queue(db, 'tasks', task.task_id, encode('Task', task));
}

function queue(db: OracleDb, topic: string, key: string, record: Buffer): void {
  db.sql.prepare('insert into outbox (topic, key, record) values (?, ?, ?)').run(topic, key, record);
}

/**
 * Publishes what waits, in order, and forgets it only when the log has it: at least once, and after a kill in
 * between the same records again. A verdict keeps its id, so a reader knows the second for the first.
 * @throws FlipstreamError (retryable) when the log does not take it; everything then still waits.
 */
export async function drainOutbox(db: OracleDb, log: Pick<Log, 'publish'>): Promise<void> {
  for (;;) {
    const rows = db.sql
      .prepare('select * from outbox order by id limit 500')
      .all()
      .map((row) => Row.parse(row));
    const last = rows.at(-1);
    if (!last) return;
    await log.publish(rows.map(outgoing));
    // By id and not by rank: another process may have drained the same rows meanwhile.
    db.sql.prepare('delete from outbox where id <= ?').run(last.id);
  }
}

function outgoing({ topic, key, record }: z.infer<typeof Row>): Outgoing {
  const bytes = Buffer.from(record);
  return topic === 'tasks'
    ? { topic, key, value: decodeTask(bytes) }
    : { topic, key, value: decodeVerdict(bytes) };
}
