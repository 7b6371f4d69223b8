import { renameSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EmbeddedLog } from '../log/embedded/open.ts';
import { partitionOf } from '../log/partition.ts';
import { inject } from '../tests/support/inject.ts';
import { tryCommit } from '../warehouse/delta/files.ts';
import { readSnapshot } from '../warehouse/delta/snapshot.ts';
import { query } from '../warehouse/query.ts';
import { tableDir } from '../warehouse/tables.ts';
import { event, landAll, metric, newPlace, openLog, type Place, session, verdict } from './sink/testing.ts';
import { startSink } from './sink.ts';

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

const ask = async (sql: string) => (await query(place.warehouse, sql, { memoryMiB: 256 })).rows;
const events = (name: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => event(name, from + index));

test('P3 duplicates after a restart: each event is a row once, whatever the group has committed', async () => {
  await log.publish([...events('a', 0, 40), ...events('b', 0, 40)]);
  await landAll(log, place);
  await log.publish(events('a', 40, 60));
  // Another group has committed nothing: only the table can say what has landed.
  const stats = await landAll(log, place, { group: 'sink-after-restart' });
  expect(stats.tables.events?.rows).toBe(20);
  expect(await ask('SELECT count(*), count(DISTINCT event_id) FROM events')).toEqual([[100, 100]]);
});

test('P3 verdicts: a verdict published twice is one row; a baseline stands once under each session', async () => {
  const graded = [verdict('v1', 's1'), verdict('base', 's1', 'baseline'), verdict('base', 's2', 'baseline')];
  await log.publish([...graded, ...graded]);
  await landAll(log, place);
  await log.publish(graded);
  await landAll(log, place);
  expect(await ask('SELECT verdict_id, _key FROM verdicts ORDER BY 1, 2')).toEqual([
    ['base', 's1'],
    ['base', 's2'],
    ['v1', 's1'],
  ]);
});

test("a forged verdict with a real one's id does not take its place", async () => {
  const real = verdict('v1', 's1');
  await log.publish([{ ...real, value: { ...real.value, verdict: 'FAIL' } }]);
  await landAll(log, place);
  await log.publish([real]);
  await landAll(log, place);
  expect(await ask('SELECT verdict FROM verdicts ORDER BY 1')).toEqual([['FAIL'], ['PASS']]);
});

test('upsert: the last record of a key is its row, and every version is whole by itself', async () => {
  await log.publish([
    session('s1', { events: 1 }),
    session('s2', { events: 1 }),
    session('s1', { events: 2 }),
  ]);
  await landAll(log, place);
  await log.publish([session('s1', { events: 3, marks: ['fork'], chains: [chain(7)] })]);
  await landAll(log, place);
  expect(await ask('SELECT session_id, events, marks, chains FROM sessions ORDER BY 1')).toEqual([
    ['s1', 3, ['fork'], [chain(7)]],
    ['s2', 1, [], []],
  ]);
  const { files } = await readSnapshot(tableDir(place.warehouse, 'sessions'));
  expect([...files.values()].map(({ stats }) => JSON.parse(stats ?? '').numRecords)).toEqual([2]);
});

test('upsert of metrics: a row each bucket, also of one day, with the counts that were last told of it', async () => {
  const [one, two] = ['one', 'two'].map((repo) => (sessions: number) => metric(DAY, repo, { sessions }));
  if (!one || !two) throw new Error('unreachable');
  await log.publish([one(1), two(5), one(2)]);
  await landAll(log, place);
  await log.publish([one(3), metric('2026-01-02', 'one', { sessions: 7 })]);
  await landAll(log, place);
  expect(await ask('SELECT day, repo, sessions FROM flip_metrics ORDER BY ALL')).toEqual([
    [DAY, 'one', 3],
    [DAY, 'two', 5],
    ['2026-01-02', 'one', 7],
  ]);
});

test('a bucket that every session has left is no row: not the first time, not in the place of another, not as the last', async () => {
  const bucket = (repo: string, sessions: number) => metric(DAY, repo, { sessions });
  const left = () => ask('SELECT repo, sessions FROM flip_metrics ORDER BY ALL');
  for (const [repo, sessions, rows] of [
    ['never', 0, []],
    ['one', 1, [['one', 1]]],
    [
      'two',
      2,
      [
        ['one', 1],
        ['two', 2],
      ],
    ],
    ['one', 0, [['two', 2]]],
    ['two', 0, []],
    ['one', 4, [['one', 4]]],
  ] as const) {
    await log.publish([bucket(repo, sessions)]);
    await landAll(log, place);
    expect(await left()).toEqual(rows);
  }
});

test('P2 what became dead letters counts as read, also where no row came after it: another start does not ask again', async () => {
  await log.publish(events('a', 0, 3));
  for (let n = 0; n < 2; n++) await inject(place.logDir, 'trace.events', 'a', Buffer.from('no record'));
  await landAll(log, place);
  const partition = partitionOf('a', 2);
  const version = () => readSnapshot(tableDir(place.warehouse, 'events'));
  const read = async () => [...(await version()).txns].map(([appId, next]) => [appId.split('/').pop(), next]);
  expect(await read()).toEqual([[String(partition), 5]]);
  await inject(place.logDir, 'trace.events', 'a', Buffer.from('no record'));
  await landAll(log, place);
  expect(await read()).toEqual([[String(partition), 6]]);
  const before = await version();
  await landAll(log, place, { group: 'sink-after-restart' });
  expect((await version()).version).toBe(before.version);
  expect(await ask('SELECT count(*) FROM deadletter')).toEqual([[3]]);
});

test('content of quarantine and dead letters never reaches the warehouse', async () => {
  const letter = {
    source_topic: 'trace.raw',
    source_partition: 0,
    source_offset: 3,
    group: 'redact',
    reason: 'undecodable',
    message: '12 bytes are not this record',
    key: 's1',
    value_hash: 'f'.repeat(64),
    value_bytes: 12,
    at: '2026-01-01T00:00:00.000Z',
    content: null,
  };
  await log.publish([{ topic: 'deadletter', key: 'trace.raw', value: letter }]);
  await landAll(log, place);
  expect(await ask('SELECT reason, value_bytes FROM deadletter')).toEqual([['undecodable', 12]]);
  const columns = await ask(
    `SELECT table_name FROM duckdb_columns() WHERE column_name = 'content' AND table_name IN ('deadletter', 'quarantine')`,
  );
  expect(columns).toEqual([]);
});

test('what retention took before it landed is named and refused, and taken as it is only when asked', async () => {
  let now = Date.UTC(2026, 0, 1);
  await log.close();
  log = await openLog(place, () => now);
  await log.publish(events('a', 0, 5));
  now += 400 * 24 * 3600 * 1000;
  await log.publish(events('a', 5, 8));
  await log.maintain();
  const sink = await startSink({ log, warehouse: place.warehouse, clock: () => now, flushMs: 5 });
  await expect(sink.done).rejects.toMatchObject({
    code: 'log_gap',
    message: expect.stringMatching(/offsets 0 to 4 /),
  });
  expect(await ask('SELECT count(*) FROM events')).toEqual([[0]]);

  await landAll(log, place, { acceptGap: true, clock: () => now });
  expect(await ask('SELECT count(*) FROM events')).toEqual([[3]]);
});

test('a recreated log does not pass for the old one', async () => {
  await log.publish(events('a', 0, 30));
  await landAll(log, place);
  await log.close();
  const other = newPlace();
  log = await openLog(other);
  await log.publish(events('b', 0, 10));
  await landAll(log, { ...place, logDir: other.logDir });
  expect(
    await ask('SELECT session_id, count(*), count(DISTINCT _log_id) FROM events GROUP BY 1 ORDER BY 1'),
  ).toEqual([
    ['a', 30, 1],
    ['b', 10, 1],
  ]);
  expect(await ask('SELECT count(DISTINCT _log_id) FROM events')).toEqual([[2]]);
  other.remove();
});

test('two sinks that both read everything publish no range twice', async () => {
  const feeding = (async () => {
    for (let round = 0; round < 20; round++) await log.publish(events('a', round * 50, round * 50 + 50));
    await log.publish(Array.from({ length: 30 }, (_, i) => session(`s${i % 7}`, { events: i })));
  })();
  await Promise.all([
    landAll(log, place, { group: 'one', maxRows: 120 }),
    landAll(log, place, { group: 'two', maxRows: 90 }),
    feeding,
  ]);
  await landAll(log, place, { group: 'one' });
  expect(await ask('SELECT count(*), count(DISTINCT event_id), max(_offset) FROM events')).toEqual([
    [1000, 1000, 999],
  ]);
  expect(await ask('SELECT count(*), count(DISTINCT session_id) FROM sessions')).toEqual([[7, 7]]);
});

test('a landing that fails for a while is tried again, and nothing is lost or doubled', async () => {
  const warned: string[] = [];
  const sink = await startSink({
    log,
    warehouse: place.warehouse,
    clock: Date.now,
    flushMs: 5,
    warn: (message) => warned.push(message),
  });
  const dir = tableDir(place.warehouse, 'events');
  renameSync(dir, `${dir}.away`);
  await log.publish(events('a', 0, 10));
  await expect.poll(() => warned.length).toBeGreaterThan(0);
  rmSync(dir, { recursive: true, force: true });
  renameSync(`${dir}.away`, dir);
  await expect.poll(() => sink.stats().tables.events?.rows, { timeout: 10_000 }).toBe(10);
  await sink.stop();
  expect(await ask('SELECT count(*), count(DISTINCT event_id) FROM events')).toEqual([[10, 10]]);
});

test('a landing that can never succeed ends the sink at once, also when nothing comes after it', async () => {
  const sink = await startSink({ log, warehouse: place.warehouse, clock: Date.now, flushMs: 5 });
  await log.publish(events('a', 0, 1));
  await expect.poll(() => sink.stats().tables.events?.rows).toBe(1);
  const dir = tableDir(place.warehouse, 'events');
  const { version } = await readSnapshot(dir);
  tryCommit(dir, version + 1, '{"protocol":{"minReaderVersion":1,"minWriterVersion":4}}\n');
  await log.publish(events('a', 1, 2));
  await expect(sink.done).rejects.toMatchObject({ code: 'delta_too_new' });
});

const DAY = '2026-01-01';

function chain(events: number) {
  return { chain_id: 'c', events, last_seq: events - 1, missing: 0, forks: 0 };
}
