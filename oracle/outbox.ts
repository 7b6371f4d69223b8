import { z } from 'zod';
import type { Log, Outgoing } from '../log/log.ts';
import type { Task, Verdict } from '../schemas/generated.ts';
import type { OracleDb } from './db.ts';
import { storedReader, toStored } from './stored.ts';

const Row = z.object({
  id: z.number(),
  topic: z.enum(['oracle.verdicts', 'tasks']),
  key: z.string(),
  record: z.instanceof(Uint8Array),
});

const readVerdict = storedReader('Verdict');
const readTask = storedReader('Task');

/**
 * Queues a verdict for publication; only inside the transaction that signs it.
 * @param principal the agent host that may fetch it.
 */
export function queueVerdict(db: OracleDb, key: string, verdict: Verdict, principal: string | null): void {
  queue(db, 'oracle.verdicts', key, toStored(verdict), principal);
}

/** Queues a task's record; only inside the transaction that changes the task. */
export function queueTask(db: OracleDb, task: Task): void {
  queue(db, 'tasks', task.task_id, toStored(task), null);
}

function queue(db: OracleDb, topic: string, key: string, record: Buffer, principal: string | null): void {
  db.sql
    .prepare('insert into outbox (topic, key, record, principal) values (?, ?, ?, ?)')
    .run(topic, key, record, principal);
}

const Place = z.object({ place: z.number() });

/**
 * Publishes what waits, in order, and moves on only when the log has it: at least once, and after a kill in
 * between the same records again. A verdict keeps its id, so a reader knows the second for the first.
 * @throws FlipstreamError (retryable) when the log does not take it; everything then still waits.
 */
export async function drainOutbox(db: OracleDb, log: Pick<Log, 'publish'>): Promise<void> {
  for (;;) {
    const { place } = Place.parse(db.sql.prepare('select place from published').get());
    const rows = rowsAfter(db, place);
    const last = rows.at(-1);
    if (!last) return;
    await log.publish(rows.map(outgoing));
    // Never back: another process may have published further meanwhile.
    db.sql.prepare('update published set place = max(place, ?)').run(last.id);
  }
}

function rowsAfter(db: OracleDb, place: number): z.infer<typeof Row>[] {
  return db.sql
    .prepare('select id, topic, key, record from outbox where id > ? order by id limit 500')
    .all(place)
    .map((row) => Row.parse(row));
}

export interface Feed {
  /** Where to go on from. */
  next: number;
  records: Outgoing<'oracle.verdicts' | 'tasks'>[];
}

const FEED_ROWS = 200;

/**
 * What an agent host may fetch, in order: verdicts it asked for, and tasks it may ask for.
 * @param after `next` of the fetch before. One beyond what there is begins anew: this home was put back from a copy.
 */
export function feedFor(
  db: OracleDb,
  principal: string,
  mayAsk: (taskId: string) => boolean,
  after: number,
): Feed {
  const newest = Place.parse(db.sql.prepare('select coalesce(max(id), 0) place from outbox').get()).place;
  const rows = db.sql
    .prepare(
      `select id, topic, key, record from outbox
       where id > ? and (topic = 'tasks' or principal = ?) order by id limit ${FEED_ROWS}`,
    )
    .all(after > newest ? 0 : after, principal)
    .map((row) => Row.parse(row));
  const whole = rows.length < FEED_ROWS;
  return {
    next: whole ? newest : (rows.at(-1)?.id ?? newest),
    records: rows.map(outgoing).filter(({ topic, key }) => topic !== 'tasks' || mayAsk(key)),
  };
}

function outgoing({ topic, key, record }: z.infer<typeof Row>): Outgoing<'oracle.verdicts' | 'tasks'> {
  return topic === 'tasks'
    ? { topic, key, value: readTask(record) }
    : { topic, key, value: readVerdict(record) };
}
