import { kMaxLength } from 'node:buffer';
import { DatabaseSync } from 'node:sqlite';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { LoadStates } from '../reduction.ts';
import type { Refused } from '../values.ts';
import { unavailable } from './errors.ts';
import { fetchFrom } from './fetch.ts';
import { boundsOf } from './offsets.ts';
import { readBatches } from './record-batch.ts';
import { relearning, type Wire } from './wire.ts';

/** A group's states of one partition as the changelog has them, in a temporary file that goes with the process. */
export interface States {
  load: LoadStates;
  /**
   * Reads what the changelog has that is not here yet: on a lease just taken, everything that was ever committed.
   */
  catchUp(): Promise<void>;
  /** What a transaction of ours that is known to be committed has written. */
  store(states: ReadonlyMap<string, string | null>): void;
  empty(): boolean;
  close(): void;
}

const LIMITS = { waitMs: 0, bytes: 8 * 2 ** 20, partitionBytes: 8 * 2 ** 20 };

/** @param changelog topic of the group's changelog */
export function createStates(wire: Wire, changelog: string, partition: number): States {
  const db = new DatabaseSync('');
  db.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -4096;
    CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`);
  const select = db.prepare('SELECT value FROM state WHERE key = ?');
  const upsert = db.prepare(
    'INSERT INTO state (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );
  const any = db.prepare('SELECT 1 FROM state LIMIT 1');
  const remove = db.prepare('DELETE FROM state WHERE key = ?');
  let next = 0;

  function write(states: Iterable<readonly [string, string | null]>): void {
    db.exec('BEGIN');
    try {
      for (const [key, value] of states) {
        if (value === null) remove.run(key);
        else upsert.run(key, value);
      }
      db.exec('COMMIT');
    } catch (error) {
      // On a full disk SQLite may have rolled back by itself.
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }

  async function catchUp(): Promise<void> {
    const { earliest, end } = await boundsOf(wire, changelog, partition);
    if (next > end) {
      // Another changelog of that name: nothing from the old one is of use.
      db.exec('DELETE FROM state');
      next = 0;
    }
    next = Math.max(next, earliest);
    while (next < end) {
      const broker = await wire.leader(changelog, partition);
      const [fetched] = await fetchFrom(broker, [{ topic: changelog, partition, from: next }], LIMITS);
      if (fetched?.error !== 0)
        throw unavailable(
          `${changelog}/${partition}: Kafka answers with error ${fetched?.error}`,
          wire.brokers,
        );
      const { records, unreadable, nextOffset } = await readBatches(
        fetched.bytes,
        next,
        fetched.aborted,
        kMaxLength,
      );
      if (unreadable[0]) throw damaged(changelog, partition, unreadable[0]);
      write(records.map(({ key, value }) => [key, value.length === 0 ? null : value.toString()] as const));
      if (nextOffset === next)
        throw unavailable(`${changelog}/${partition}: nothing comes at ${next} of ${end}`, wire.brokers);
      next = nextOffset;
    }
  }

  return {
    async load(keys) {
      const found = new Map<string, string>();
      for (const key of keys) {
        const row = select.get(key);
        if (typeof row?.value === 'string') found.set(key, row.value);
      }
      return found;
    },
    catchUp: () => relearning(wire, catchUp),
    store: write,
    empty: () => any.get() === undefined,
    close: () => db.close(),
  };
}

/** Only our own transactions write there: a state that is passed over would be a wrong one. */
function damaged(changelog: string, partition: number, { message }: Refused): FlipstreamError {
  return new FlipstreamError(
    'batch_unreadable',
    'fatal',
    `${changelog}/${partition}: ${message}. Nobody else may write there; rebuild in a fresh home with flipstream replay`,
  );
}
