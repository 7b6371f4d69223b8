import type { TopicName } from '../../schemas/topics.ts';
import { deadLetter, encodeLetter } from '../deadletter.ts';
import type { PartitionLag } from '../log.ts';
import type { Encoded, Refused } from '../values.ts';
import type { Core } from './core.ts';
import { encodeAll } from './publish.ts';
import { integer, text } from './rows.ts';

/**
 * A group's row id. A new group, or one with new topics, begins at the first record that is kept of them: from
 * then on its lag can be seen and retention waits for it.
 */
export async function groupId(core: Core, group: string, topics: readonly TopicName[]): Promise<number> {
  const find = core.db.prepare('SELECT id FROM grp WHERE name = ?');
  const begin = core.db.prepare(
    'INSERT OR IGNORE INTO committed (grp, part, next) SELECT ?, id, earliest FROM part WHERE id = ?',
  );
  const parts = topics.flatMap((topic) =>
    Array.from({ length: core.catalog.partitions }, (_, partition) => core.catalog.part(topic, partition)),
  );
  return core.transact(() => {
    core.db.prepare('INSERT OR IGNORE INTO grp (name) VALUES (?)').run(group);
    const id = integer(find.get(group), 'id');
    for (const part of parts) begin.run(id, part);
    return id;
  });
}

/** A group's offsets. `set` only inside a write transaction that has checked the lease. */
export function createOffsets(core: Core, group: number) {
  const select = core.db.prepare('SELECT next FROM committed WHERE grp = ? AND part = ?');
  const upsert = core.db.prepare(`
    INSERT INTO committed (grp, part, next) VALUES (?, ?, ?)
    ON CONFLICT (grp, part) DO UPDATE SET next = excluded.next`);
  return {
    get: (topic: TopicName, partition: number): number => {
      const row = select.get(group, core.catalog.part(topic, partition));
      return row ? integer(row, 'next') : 0;
    },
    set: (topic: TopicName, partition: number, next: number): void => {
      upsert.run(group, core.catalog.part(topic, partition), next);
    },
  };
}

interface Letter {
  offset: number;
  encoded: Encoded;
}

/** Dead letters ready to be written: sealing is asynchronous and transactions are not. */
export async function writeLetters(
  core: Core,
  place: { topic: TopicName; partition: number; group: string },
  refused: readonly Refused[],
): Promise<Letter[]> {
  const letters: Letter[] = [];
  for (const one of refused) {
    const letter = deadLetter(place, one, core.clock(), core.seal);
    for (const encoded of await encodeLetter(letter, (records) => encodeAll(core, records)))
      letters.push({ encoded, offset: one.record.offset });
  }
  return letters;
}

/** Appends each letter once, however often the record is met. Only inside a write transaction. */
export function createPost(core: Core, group: number) {
  const mark = core.db.prepare('INSERT OR IGNORE INTO letter (grp, part, offset) VALUES (?, ?, ?)');
  return (topic: TopicName, partition: number, letters: readonly Letter[]): number => {
    const part = core.catalog.part(topic, partition);
    const fresh = letters.filter(({ offset }) => mark.run(group, part, offset).changes === 1);
    core.append(fresh.map(({ encoded }) => encoded));
    return fresh.length;
  };
}

export function lagOf({ db, catalog }: Core): PartitionLag[] {
  const rows = db.prepare(`
    SELECT grp.name AS name, part.id AS part, max(committed.next, part.earliest) AS next,
      part.next AS last
    FROM committed JOIN grp ON grp.id = committed.grp JOIN part ON part.id = committed.part
    ORDER BY grp.name, part.id`);
  return rows.all().map((row) => ({
    group: text(row, 'name'),
    ...catalog.topicOfPart(integer(row, 'part')),
    committed: integer(row, 'next'),
    end: integer(row, 'last'),
  }));
}
