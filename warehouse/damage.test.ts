/** Tables of which files or the log are missing or damaged: told by name, and no other table is the worse for it. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
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
import { commitPath, logDir } from './delta/files.ts';
import { readSnapshot } from './delta/snapshot.ts';
import { openReader, query, type Reader } from './query.ts';
import { refuseNewerTables } from './snapshots.ts';
import { type TableName, tableDir } from './tables.ts';

let place: Place;
let log: EmbeddedLog;
beforeEach(async () => {
  place = newPlace();
  log = await openLog(place);
  for (let round = 0; round < 3; round++) {
    const events = Array.from({ length: 200 }, (_, i) => event(`s${i % 3}`, round * 200 + i));
    await log.publish([...events, session(`s${round}`, { events: round }), verdict(`v${round}`, 's0')]);
    await landAll(log, place);
  }
});
afterEach(async () => {
  await log.close();
  place.remove();
});

const dirOf = (table: TableName) => tableDir(place.warehouse, table);
const parquetIn = (table: TableName) => readdirSync(dirOf(table)).filter((name) => name.endsWith('.parquet'));
/** A file that the newest version needs. */
async function fileOf(table: TableName): Promise<string> {
  const [path] = (await readSnapshot(dirOf(table))).files.keys();
  return join(dirOf(table), path ?? '');
}
async function open(): Promise<Reader> {
  const reader = await openReader(place.warehouse, { memoryMiB: 256, threads: 1 });
  onTestFinished(() => reader.close());
  return reader;
}
const EVENTS = ['SELECT count(*) FROM events', 'FROM conversation', "SELECT 1 FROM events WHERE type = 'x'"];
const sum = 'SELECT sum(hash(e)) FROM events e';

/** @param deep found only by who reads all of the file */
async function eventsAreTold(reader: Reader, told: object, deep = false): Promise<void> {
  for (const sql of deep ? [sum] : [sum, ...EVENTS, 'DESCRIBE events', 'SELECT * FROM events LIMIT 0'])
    await expect(reader.query(sql), sql).rejects.toMatchObject(told);
  await expect(reader.stream('SELECT * FROM events')).rejects.toMatchObject(told);
  expect((await reader.query('SELECT session_id FROM sessions ORDER BY 1')).rows).toHaveLength(3);
  expect((await reader.query('FROM grades')).rows).toHaveLength(3);
  await expect(reader.query('SELECT nonsense FROM sessions')).rejects.toMatchObject({ code: 'sql' });
}

test('a file that is missing is named, also to a reader that was open; when it is back, all is well', async () => {
  const before = await open();
  const whole = (await before.query(sum)).rows;
  const path = await fileOf('events');
  renameSync(path, `${path}.away`);
  const told = { code: 'delta_file_missing', kind: 'fatal', message: expect.stringContaining(path) };
  const after = await open();
  await eventsAreTold(after, told);
  await expect(before.query(sum)).rejects.toMatchObject(told);
  renameSync(`${path}.away`, path);
  for (const reader of [before, after]) expect((await reader.query(sum)).rows).toEqual(whole);
});

const over = (bytes: Buffer, from: number, to: number) => Buffer.from(bytes).fill(0x55, from, to);
test.each<[string, (bytes: Buffer) => Buffer, boolean]>([
  ['empty', () => Buffer.alloc(0), false],
  ['cut short', (bytes) => bytes.subarray(0, bytes.length / 2), false],
  ['altered at its end', (bytes) => over(bytes, bytes.length - 2000, bytes.length - 8), false],
  ['altered at its beginning', (bytes) => over(bytes, 4, 200), true],
  ['altered in its middle', (bytes) => over(bytes, 1500, bytes.length >> 1), true],
])('a file that is %s is named', async (_, damage, deep) => {
  const path = await fileOf('events');
  const bytes = readFileSync(path);
  writeFileSync(path, damage(bytes));
  const told = { code: 'delta_file_damaged', kind: 'fatal', message: expect.stringContaining(path) };
  const reader = await open();
  await eventsAreTold(reader, told, deep);
  writeFileSync(path, bytes);
  expect((await (await open()).query(sum)).rows).toHaveLength(1);
});

test('a table whose log is gone or damaged is told when it is asked for, and the others are read', async () => {
  const reader = await open();
  const whole = (await reader.query(sum)).rows;
  renameSync(logDir(dirOf('events')), `${dirOf('events')}.away`);
  await eventsAreTold(reader, { code: 'delta_log_missing' });
  await eventsAreTold(await open(), { code: 'delta_log_missing' });
  renameSync(`${dirOf('events')}.away`, logDir(dirOf('events')));
  const next = commitPath(dirOf('events'), (await readSnapshot(dirOf('events'))).version + 1);
  writeFileSync(next, '{');
  await eventsAreTold(reader, { code: 'delta_commit_damaged' });
  rmSync(next);
  expect((await reader.query(sum)).rows).toEqual(whole);
});

test('what landed in one table while another could not be read is seen', async () => {
  const reader = await open();
  await log.publish([event('late', 0)]);
  await landAll(log, place);
  const next = commitPath(dirOf('verdicts'), (await readSnapshot(dirOf('verdicts'))).version + 1);
  writeFileSync(next, '{');
  await expect(reader.query('FROM verdicts')).rejects.toMatchObject({ code: 'delta_commit_damaged' });
  rmSync(next);
  expect((await reader.query("SELECT count(*) FROM events WHERE session_id = 'late'")).rows).toEqual([[1]]);
});

test('of questions asked at once, none finds a table empty that cannot be read', async () => {
  const path = await fileOf('events');
  rmSync(path);
  const reader = await open();
  const asked = Array.from({ length: 8 }, () => reader.query('SELECT count(*) FROM events'));
  for (const answer of await Promise.allSettled(asked)) expect(answer.status).toBe('rejected');
});

test('records are taken out of the archive also when what is made of them cannot be read', async () => {
  rmSync(logDir(dirOf('sessions')), { recursive: true });
  await refuseNewerTables(place.warehouse);
  rmSync(logDir(dirOf('events')), { recursive: true });
  await expect(refuseNewerTables(place.warehouse)).rejects.toMatchObject({ code: 'delta_log_missing' });
});

test('a sink that would merge rows into a file that is gone or damaged ends and names it', async () => {
  for (const [table, code] of [
    ['sessions', 'delta_file_missing'],
    ['verdicts', 'delta_file_damaged'],
  ] as const) {
    const path = await fileOf(table);
    const bytes = readFileSync(path);
    if (table === 'sessions') rmSync(path);
    else writeFileSync(path, bytes.subarray(0, bytes.length >> 1));
    const files = parquetIn(table);
    const sink = await startSink({ log, warehouse: place.warehouse, clock: Date.now, flushMs: 1 });
    await log.publish([session('s0', { events: 9 }), verdict('v9', 's0')]);
    await expect(sink.done).rejects.toMatchObject({ code, message: expect.stringContaining(path) });
    expect(parquetIn(table)).toEqual(files);
    writeFileSync(path, bytes);
  }
  await landAll(log, place);
  expect((await query(place.warehouse, 'SELECT count(*) FROM verdicts')).rows).toEqual([[4]]);
});

test('compaction names a file that is missing, leaves the table alone, and merges the others', async () => {
  const path = await fileOf('events');
  rmSync(path);
  const files = parquetIn('events');
  const compacting = compact({ warehouse: place.warehouse, clock: Date.now, from: 2, memoryMiB: 256 });
  await expect(compacting).rejects.toMatchObject({
    code: 'delta_file_missing',
    message: expect.stringContaining(path),
  });
  expect(parquetIn('events')).toEqual(files);
  expect((await readSnapshot(dirOf('verdicts'))).files.size).toBe(1);
});

test('a merge that fails before it is committed leaves no file behind', async () => {
  const files = parquetIn('events');
  const clock = () => {
    if (parquetIn('events').length > files.length) throw new Error('no time');
    return Date.now();
  };
  await expect(compact({ warehouse: place.warehouse, clock, from: 2, memoryMiB: 256 })).rejects.toThrow(
    'no time',
  );
  expect(parquetIn('events')).toEqual(files);
});

test('a folder above the warehouse whose name looks like a column is no column', async () => {
  const named = { ...place, warehouse: join(place.dir, 'session_id=nobody', 'warehouse') };
  mkdirSync(join(place.dir, 'session_id=nobody'));
  await landAll(log, named, { group: 'other' });
  await log.publish([session('s0', { events: 7 })]);
  await landAll(log, named, { group: 'other' });
  const ask = async (sql: string) => (await query(named.warehouse, sql, { memoryMiB: 256 })).rows;
  expect(await ask('SELECT DISTINCT session_id FROM events ORDER BY 1')).toEqual([['s0'], ['s1'], ['s2']]);
  expect(await ask('SELECT session_id, events FROM sessions ORDER BY 1')).toEqual([
    ['s0', 7],
    ['s1', 1],
    ['s2', 2],
  ]);
});
