import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { TopicName } from '../../schemas/topics.ts';
import type { RawBatch, RawRecord } from '../values.ts';
import { BLOCK_BYTES, plain, unpack } from './block.ts';
import type { Catalog } from './catalog.ts';
import { bytes, integer } from './rows.ts';

interface ReadLimit {
  records: number;
  bytes: number;
}

/** Records of one partition from an offset on; at least one where there is one. */
export type Read = (topic: TopicName, partition: number, from: number, limit: ReadLimit) => RawBatch;

export function createRead(db: DatabaseSync, catalog: Catalog): Read {
  const ends = db.prepare('SELECT next, earliest FROM part WHERE id = ?');
  const blocks = db.prepare(`
    SELECT id, base, last, zstd, data FROM block WHERE part = ?1 AND base >= coalesce(
      (SELECT max(base) FROM block WHERE part = ?1 AND base <= ?2), 0) ORDER BY base`);
  /** Blocks that a small `maxBatch` reads again and again. Ids are never used twice. */
  const unpacked = new LRUCache<number, Buffer>({
    maxSize: 16 * BLOCK_BYTES,
    sizeCalculation: (data) => data.length + 1,
  });

  return (topic, partition, from, limit) => {
    const part = catalog.part(topic, partition);
    const records: RawRecord[] = [];
    try {
      // One snapshot, so that what lies between two blocks is a gap and not a commit in between.
      db.exec('BEGIN');
      const row = ends.get(part);
      const end = integer(row, 'next');
      const earliest = integer(row, 'earliest');
      const start = Math.max(from, earliest);
      const size = start < end ? fill(part, start, limit, records) : 0;
      db.exec('COMMIT');
      const full = records.length >= limit.records || size >= limit.bytes;
      const last = records.at(-1);
      const nextOffset = full && last ? last.offset + 1 : Math.max(start, end);
      return { topic, partition, records, nextOffset, end, earliest };
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };

  function fill(part: number, start: number, limit: ReadLimit, into: RawRecord[]): number {
    let size = 0;
    for (const row of blocks.iterate(part, start)) {
      if (integer(row, 'last') < start) continue;
      const id = integer(row, 'id');
      let data = unpacked.get(id);
      if (!data) {
        data = plain(bytes(row, 'data'), integer(row, 'zstd') === 1);
        unpacked.set(id, data);
      }
      for (const record of unpack({ base: integer(row, 'base'), data }, start)) {
        into.push(record);
        size += record.value.length;
        if (into.length >= limit.records || size >= limit.bytes) return size;
      }
    }
    return size;
  }
}
