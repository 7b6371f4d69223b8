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
import { startSink } from '../consumers/sink.ts';
import type { EmbeddedLog } from '../log/embedded/open.ts';
import { compact } from './compact.ts';
import { commitPath } from './delta/files.ts';
import { readSnapshot } from './delta/snapshot.ts';
import { type Answer, openReader, query } from './query.ts';
import { TABLE_NAMES, tableDir } from './tables.ts';
import { VIEWS } from './views.sql.ts';

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

/** Every table, and every view over them. */
const ASKED = [...TABLE_NAMES, ...VIEWS.map(({ name }) => name)];
async function answers() {
  const reader = await openReader(place.warehouse, { memoryMiB: 256, threads: 1 });
  const all: [string, Answer][] = [];
  for (const name of ASKED) all.push([name, await reader.query(`SELECT * FROM ${name} ORDER BY ALL`)]);
  reader.close();
  return all;
}
const files = async (table: 'events' | 'sessions' | 'verdicts') =>
  (await readSnapshot(tableDir(place.warehouse, table))).files.size;

/** A commit of one event each round, and now and then of the others: the worst that a sink can leave. */
async function trickle(rounds: number): Promise<void> {
  const sink = await startSink({ log, warehouse: place.warehouse, clock: Date.now, flushMs: 1 });
  const call = { type: 'tool_call', role: null, text_redacted: null, tool_name: 'Bash' } as const;
  const landed = () => sink.stats().tables.events?.rows ?? 0;
  for (let round = 0; round < rounds; round++) {
    const id = `s${round % 7}`;
    const status = round % 3 === 0 ? 'error' : 'ok';
    const told = event(id, round, round % 2 === 0 ? { ...call, status, tool_use_id: `u${round}` } : {});
    const more = { events: round, task_id: `t${round % 2}`, attempts: 1, usable: true };
    const others = round % 20 === 0 ? [session(id, more), verdict(`v${round}`, id)] : [];
    await log.publish([told, ...others]);
    while (landed() <= round) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await sink.flush();
  await sink.stop();
}

const ROUNDS = 200;

test('P6 hundreds of tiny files: merged as it is by default, with the same answer to every query before and after', async () => {
  await trickle(ROUNDS);
  expect(await files('events')).toBe(ROUNDS);
  const before = await answers();
  const versionBefore = (await readSnapshot(tableDir(place.warehouse, 'events'))).version;
  const report = await compact({ warehouse: place.warehouse, clock: Date.now });
  expect(report.find(({ table }) => table === 'events')).toMatchObject({ merged: ROUNDS, made: 1 });
  expect(await files('events')).toBe(1);
  expect(await files('verdicts')).toBe(1);
  expect(await answers()).toEqual(before);
  // The version before is still there for whoever reads it.
  expect(
    (await readSnapshot(tableDir(place.warehouse, 'events'), { version: versionBefore })).files.size,
  ).toBe(ROUNDS);
  // And the sink goes on where it was.
  await log.publish([event('s0', ROUNDS), session('s1', { events: 999 })]);
  await landAll(log, place);
  expect(
    (await query(place.warehouse, 'SELECT count(*), count(DISTINCT event_id) FROM events')).rows,
  ).toEqual([[ROUNDS + 1, ROUNDS + 1]]);
  expect((await query(place.warehouse, "SELECT events FROM sessions WHERE session_id = 's1'")).rows).toEqual([
    [999],
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
