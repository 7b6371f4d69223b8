import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  event,
  landAll,
  newPlace,
  openLog,
  type Place,
  session,
  verdict,
} from '../consumers/sink/testing.ts';
import type { EmbeddedLog } from '../log/embedded/open.ts';
import { compact } from './compact.ts';
import { commitPath } from './delta/files.ts';
import { readSnapshot } from './delta/snapshot.ts';
import { query } from './query.ts';
import { tableDir } from './tables.ts';

let place: Place;
let log: EmbeddedLog;
beforeEach(async () => {
  place = newPlace();
  log = await openLog(place);
});
afterEach(async () => {
  await log.close();
  place.remove();
});

const QUERIES = [
  'SELECT * FROM events ORDER BY event_id',
  'SELECT * FROM sessions ORDER BY session_id',
  'SELECT * FROM verdicts ORDER BY verdict_id, _key',
  'SELECT * FROM conversation',
  'SELECT count(*), max(_offset), min(ts) FROM events',
];
const answers = () =>
  Promise.all(QUERIES.map((sql) => query(place.warehouse, sql, { memoryMiB: 256, threads: 1 })));
const files = async (table: 'events' | 'sessions' | 'verdicts') =>
  (await readSnapshot(tableDir(place.warehouse, table))).files.size;

test('P6 thousands of tiny files: merged, with the same answer to every query before and after', async () => {
  for (let round = 0; round < 10; round++) {
    const seqs = [0, 1, 2].map((i) => round * 3 + i);
    await log.publish(seqs.map((seq) => event(`s${seq % 2}`, seq)));
    await log.publish([session(`s${round % 3}`, { events: round }), verdict(`v${round}`, 's0')]);
    await landAll(log, place);
  }
  expect(await files('events')).toBeGreaterThan(9);
  const before = await answers();
  const versionBefore = (await readSnapshot(tableDir(place.warehouse, 'events'))).version;
  const report = await compact({ warehouse: place.warehouse, clock: Date.now, from: 2, memoryMiB: 256 });
  expect(report.find(({ table }) => table === 'events')).toMatchObject({ made: 1 });
  expect(await files('events')).toBe(1);
  expect(await files('sessions')).toBe(1);
  expect(await answers()).toEqual(before);
  // The version before is still there for whoever reads it.
  expect(
    (await readSnapshot(tableDir(place.warehouse, 'events'), { version: versionBefore })).files.size,
  ).toBeGreaterThan(9);
  // And the sink goes on where it was.
  await log.publish([event('s0', 30), session('s1', { events: 99 })]);
  await landAll(log, place);
  expect(
    (await query(place.warehouse, 'SELECT count(*), count(DISTINCT event_id) FROM events')).rows,
  ).toEqual([[31, 31]]);
  expect((await query(place.warehouse, "SELECT events FROM sessions WHERE session_id = 's1'")).rows).toEqual([
    [99],
  ]);
});

test('compaction beside a busy sink loses and doubles nothing', async () => {
  let stopped = false;
  const compacting = (async () => {
    while (!stopped) await compact({ warehouse: place.warehouse, clock: Date.now, from: 2, memoryMiB: 256 });
  })();
  for (let round = 0; round < 12; round++) {
    await log.publish(Array.from({ length: 20 }, (_, i) => event(`s${i % 3}`, round * 20 + i)));
    await log.publish([session('s0', { events: round }), session('s1', { events: round })]);
    await landAll(log, place);
  }
  stopped = true;
  await compacting;
  expect(
    (await query(place.warehouse, 'SELECT count(*), count(DISTINCT event_id) FROM events')).rows,
  ).toEqual([[240, 240]]);
  expect((await query(place.warehouse, 'SELECT session_id, events FROM sessions ORDER BY 1')).rows).toEqual([
    ['s0', 11],
    ['s1', 11],
  ]);
});

test('files whose rows are not as many as the log says stay as they are, and that is told', async () => {
  for (let round = 0; round < 3; round++) {
    await log.publish([event('s0', round), verdict(`v${round}`, 's0')]);
    await landAll(log, place);
  }
  const dir = tableDir(place.warehouse, 'events');
  const { version } = await readSnapshot(dir);
  const said = readFileSync(commitPath(dir, version), 'utf8');
  writeFileSync(commitPath(dir, version), said.replace('numRecords\\":1', 'numRecords\\":2'));
  const before = await files('events');
  await expect(
    compact({ warehouse: place.warehouse, clock: Date.now, from: 2, memoryMiB: 256 }),
  ).rejects.toMatchObject({ code: 'delta_miscounted', message: expect.stringContaining('4 rows, and 3') });
  expect(await files('events')).toBe(before);
  // One table that cannot be merged keeps no other from it.
  expect(await files('verdicts')).toBe(1);
  expect(readdirSync(dir).filter((file) => file.endsWith('.parquet')).length).toBe(before);
});
