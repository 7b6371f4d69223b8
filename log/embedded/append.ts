import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../schemas/time.ts';
import { partitionOf } from '../partition.ts';
import type { Encoded, RawRecord } from '../values.ts';
import { type Block, pack } from './block.ts';
import type { Catalog } from './catalog.ts';
import { integer } from './rows.ts';

/** Appends records to their partitions. Only inside a write transaction. */
export type Append = (records: readonly Encoded[]) => void;

export function createAppend(db: DatabaseSync, catalog: Catalog, clock: Clock): Append {
  const take = db.prepare('UPDATE part SET next = next + ? WHERE id = ? RETURNING next');
  const insert = createInsert(db);
  return (records) => {
    const byPart = new Map<number, Encoded[]>();
    for (const record of records) {
      const part = catalog.part(record.topic, partitionOf(record.key, catalog.partitions));
      const others = byPart.get(part);
      if (others) others.push(record);
      else byPart.set(part, [record]);
    }
    const timestamp = clock();
    for (const [part, group] of byPart) {
      const first = integer(take.get(group.length, part), 'next') - group.length;
      const placed: RawRecord[] = group.map(({ key, value }, index) => ({
        offset: first + index,
        timestamp,
        key,
        value,
      }));
      for (const block of pack(placed)) insert(part, block);
    }
  };
}

/** Stores one packed block of a partition. Only inside a write transaction. */
export function createInsert(db: DatabaseSync): (part: number, block: Block) => void {
  const insert = db.prepare(
    'INSERT INTO block (part, base, last, ts, records, zstd, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  return (part, { base, last, timestamp, records, zstd, data }) => {
    insert.run(part, base, last, timestamp, records, zstd ? 1 : 0, data);
  };
}
