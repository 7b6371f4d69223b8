import { setImmediate as turn } from 'node:timers/promises';
import type { RawRecord } from '../values.ts';
import { createInsert } from './append.ts';
import { BLOCK_BYTES, pack, plain, unpack } from './block.ts';
import type { Core } from './core.ts';
import { bytes, integer } from './rows.ts';

/** Blocks smaller than this, compressed or not, are worth merging. */
const SMALL_BYTES = 32 * 1024;
/** At most this many blocks in one transaction. */
const STEP = 512;
const ENOUGH = 64;

/**
 * Merges runs of small blocks, as single events make them: larger ones read an order of magnitude faster and
 * compress. `part.cleaned` remembers how far it got. Returns how many blocks went into others.
 */
export async function mergeSmall(core: Core, part: number): Promise<number> {
  const { db } = core;
  const watermark = db.prepare('SELECT cleaned FROM part WHERE id = ?');
  const small = db.prepare(`
    SELECT id, base, last, length(data) AS size FROM block WHERE part = ? AND base >= ? ORDER BY base LIMIT ?`);
  const rewrite = createRewrite(core);
  const move = db.prepare('UPDATE part SET cleaned = ? WHERE id = ?');
  let merged = 0;
  for (;;) {
    const found = await core.transact(() => {
      const from = integer(watermark.get(part), 'cleaned');
      const rows = small.all(part, from, STEP);
      const ids: number[] = [];
      let size = 0;
      let next = from;
      let run = from;
      let closed = false;
      for (const row of rows) {
        const own = integer(row, 'size');
        // A large block ends a run, and is passed over when no run has begun.
        closed = size >= BLOCK_BYTES || (own > SMALL_BYTES && ids.length > 1);
        if (closed) break;
        next = integer(row, 'last') + 1;
        if (own > SMALL_BYTES) {
          ids.length = 0;
          size = 0;
          run = next;
        } else {
          ids.push(integer(row, 'id'));
          size += own;
        }
      }
      const worth = ids.length > 1 && (closed || ids.length >= ENOUGH);
      if (!worth) {
        // A short run at the end may still grow, or goes on behind what was looked at; all before it is done with.
        if (run > from) move.run(run, part);
        return run - from;
      }
      rewrite(part, ids, () => true);
      move.run(next, part);
      merged += ids.length;
      return ids.length;
    });
    if (found === 0) return merged;
    await turn();
  }
}

/** Replaces blocks of one partition by what is left of their records. Only inside a write transaction. */
export function createRewrite({ db }: Core) {
  const load = db.prepare('SELECT base, zstd, data FROM block WHERE id = ?');
  const remove = db.prepare('DELETE FROM block WHERE id = ?');
  const insert = createInsert(db);
  return (part: number, ids: readonly number[], keep: (record: RawRecord) => boolean): number => {
    const left: RawRecord[] = [];
    let gone = 0;
    for (const id of ids) {
      const row = load.get(id);
      const data = plain(bytes(row, 'data'), integer(row, 'zstd') === 1);
      for (const record of unpack({ base: integer(row, 'base'), data }, 0)) {
        if (keep(record)) left.push(record);
        else gone++;
      }
      remove.run(id);
    }
    for (const block of pack(left)) insert(part, block);
    return gone;
  };
}
