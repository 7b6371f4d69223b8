import { setImmediate as turn } from 'node:timers/promises';
import { TOPIC_NAMES, TOPICS, type TopicName, type TopicSpec } from '../../schemas/topics.ts';
import { compact } from './compact.ts';
import type { Core } from './core.ts';
import { mergeSmall } from './merge.ts';
import { integer } from './rows.ts';

const DAY_MS = 86_400_000;
/** Blocks deleted in one transaction: publishers wait no longer than that takes. */
const STEP = 50;
const SPARE_PAGES = 2000;
const VACUUM_PAGES = 500;

/** Records removed by retention and by compaction, blocks merged. */
export interface Maintained {
  expired: number;
  superseded: number;
  merged: number;
}

/**
 * Retention, compaction and merging of small blocks, in short transactions. Unlike a broker, retention keeps
 * what a known group has not read yet: a laptop that slept for a month loses nothing. Of what only a reviewer could
 * still read it tells that it is gone.
 */
export async function maintain(core: Core): Promise<Maintained> {
  const done: Maintained = { expired: 0, superseded: 0, merged: 0 };
  for (const topic of TOPIC_NAMES) {
    const before = done.expired;
    for (let partition = 0; partition < core.catalog.partitions; partition++) {
      if (TOPICS[topic].cleanup === 'compact') {
        done.superseded += await compact(core, topic, partition);
      } else {
        done.expired += await expire(core, topic, partition);
        done.merged += await mergeSmall(core, core.catalog.part(topic, partition));
      }
      await turn();
    }
    tellGone(core, topic, done.expired - before);
  }
  await core.transact(() => {
    core.db.exec('DELETE FROM letter WHERE offset < (SELECT earliest FROM part WHERE part.id = letter.part)');
  });
  await giveBack(core);
  return done;
}

function tellGone(core: Core, topic: TopicName, records: number): void {
  const { sealed, retentionDays }: TopicSpec = TOPICS[topic];
  if (sealed && records > 0)
    core.warn(`${records} records of ${topic} were older than ${retentionDays} days and are removed`, null);
}

/** Returns free pages to the file system, but for some that the next records will fill. */
async function giveBack(core: Core): Promise<void> {
  const free = core.db.prepare('PRAGMA freelist_count');
  while (integer(free.get(), 'freelist_count') > SPARE_PAGES) {
    await core.transact(() => core.db.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`));
    await turn();
  }
}

async function expire(core: Core, topic: TopicName, partition: number): Promise<number> {
  const days = TOPICS[topic].retentionDays;
  if (days === null) return 0;
  const { db } = core;
  const part = core.catalog.part(topic, partition);
  const held = db.prepare(
    'SELECT coalesce(min(next), 9007199254740991) AS next FROM committed WHERE part = ?',
  );
  const oldest = db.prepare('SELECT id, last, ts, records FROM block WHERE part = ? ORDER BY base LIMIT ?');
  const remove = db.prepare('DELETE FROM block WHERE id = ?');
  const move = db.prepare('UPDATE part SET earliest = max(earliest, ?) WHERE id = ?');
  const until = core.clock() - days * DAY_MS;
  let expired = 0;
  for (;;) {
    const found = await core.transact(() => {
      const hold = integer(held.get(part), 'next');
      let count = 0;
      let earliest = 0;
      for (const row of oldest.all(part, STEP)) {
        const last = integer(row, 'last');
        if (integer(row, 'ts') >= until || last >= hold) break;
        remove.run(integer(row, 'id'));
        count++;
        expired += integer(row, 'records');
        earliest = last + 1;
      }
      if (count > 0) move.run(earliest, part);
      return count;
    });
    if (found < STEP) return expired;
    await turn();
  }
}

/** True for one process in each interval: maintenance by two at once would only cost. */
export function claimMaintenance(core: Core, everyMs: number): Promise<boolean> {
  return core.transact(() => {
    const row = core.db.prepare(`SELECT value FROM meta WHERE key = 'maintained_at'`).get();
    const now = core.clock();
    const last = Number(row?.value ?? 0);
    // A time in the future was written by a clock that has jumped back since.
    if (last <= now && now - last < everyMs) return false;
    core.db.prepare(`INSERT OR REPLACE INTO meta VALUES ('maintained_at', ?)`).run(String(now));
    return true;
  });
}
