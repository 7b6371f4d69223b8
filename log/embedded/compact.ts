import { setImmediate as turn } from 'node:timers/promises';
import type { TopicName } from '../../schemas/topics.ts';
import type { Core } from './core.ts';
import { createRewrite } from './merge.ts';
import { integer } from './rows.ts';

/** Fewer new records than this are not worth reading the partition for. */
const WORTH_IT = 1000;
const READ = { records: 5000, bytes: 4 * 2 ** 20 };
/** Blocks rewritten in one transaction. */
const STEP = 4;

/**
 * Removes records of a compacted topic that a later one of their key supersedes, once half of the partition
 * is new. The newest offset of each key is found in a temporary table: a million keys are no load on the heap.
 */
export async function compact(core: Core, topic: TopicName, partition: number): Promise<number> {
  const { db } = core;
  const part = core.catalog.part(topic, partition);
  const state = db.prepare(`
    SELECT next, cleaned, (SELECT coalesce(sum(records), 0) FROM block WHERE part = ?1) AS records
    FROM part WHERE id = ?1`);
  const row = state.get(part);
  const end = integer(row, 'next');
  const fresh = end - integer(row, 'cleaned');
  if (fresh < Math.max(WORTH_IT, integer(row, 'records') / 2)) return 0;

  const table = `newest_${part}`;
  db.exec(`DROP TABLE IF EXISTS temp.${table};
    CREATE TEMP TABLE ${table} (key TEXT PRIMARY KEY, offset INTEGER NOT NULL) WITHOUT ROWID`);
  try {
    await findNewest(core, topic, partition, end, table);
    const removed = await rewriteAll(core, part, end, table);
    await core.transact(() => db.prepare('UPDATE part SET cleaned = ? WHERE id = ?').run(end, part));
    return removed;
  } finally {
    if (db.isOpen) db.exec(`DROP TABLE IF EXISTS temp.${table}`);
  }
}

async function findNewest(core: Core, topic: TopicName, partition: number, end: number, table: string) {
  const note = core.db.prepare(`INSERT OR REPLACE INTO temp.${table} (key, offset) VALUES (?, ?)`);
  for (let from = 0; from < end; ) {
    const { records, nextOffset } = core.read(topic, partition, from, READ);
    core.db.exec('BEGIN');
    try {
      for (const { key, offset } of records) if (offset < end) note.run(key, offset);
    } finally {
      core.db.exec('COMMIT');
    }
    from = nextOffset;
    await turn();
  }
}

async function rewriteAll(core: Core, part: number, end: number, table: string): Promise<number> {
  const newest = core.db.prepare(`SELECT offset FROM temp.${table} WHERE key = ?`);
  const blocks = core.db.prepare(
    'SELECT id, last FROM block WHERE part = ? AND base >= ? AND last < ? ORDER BY base LIMIT ?',
  );
  const rewrite = createRewrite(core);
  let removed = 0;
  for (let from = 0; ; ) {
    const found = await core.transact(() => {
      const rows = blocks.all(part, from, end, STEP);
      const ids = rows.map((row) => integer(row, 'id'));
      removed += rewrite(part, ids, ({ key, offset }) => integer(newest.get(key), 'offset') <= offset);
      const last = rows.at(-1);
      if (last) from = integer(last, 'last') + 1;
      return rows.length;
    });
    if (found < STEP) return removed;
    await turn();
  }
}
