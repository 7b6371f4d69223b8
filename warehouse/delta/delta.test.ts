import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Column, deltaSchema, PROVENANCE } from '../columns.ts';
import { openParquetWriter } from '../parquet.ts';
import { newSheet } from '../sheet.ts';
import { tableColumns } from '../tables.ts';
import { rowsOf } from './actions.ts';
import { CHECKPOINT_EVERY } from './checkpoint.ts';
import { checkpointPath, commitPath, lastCheckpointPath, logDir, tryCommit } from './files.ts';
import { readSnapshot } from './snapshot.ts';
import { addOf, newFileName, openTable, type Table } from './table.ts';
import { KEEP_MS, vacuum } from './vacuum.ts';

const COLUMNS: Column[] = [{ name: 'a', type: { kind: 'string' } }, ...PROVENANCE];
let dir: string;
let now = Date.UTC(2026, 5, 1);
const clock = () => now;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'flipstream-delta-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function commits(table: Table, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const base = await table.refresh();
    const path = newFileName();
    writeFileSync(join(dir, path), 'data');
    const txns = [{ appId: 'log/topic/0', version: (base.version + 1) * 10 }];
    expect(
      await table.commit(base, { operation: 'WRITE', adds: [addOf(path, { size: 4, rows: 1 }, now)], txns }),
    ).toBeTruthy();
  }
}

test('of two writers on one version one wins, and the other learns it', async () => {
  const [one, two] = [await openTable(dir, COLUMNS, clock), await openTable(dir, COLUMNS, clock)];
  const base = await one.refresh();
  expect(await two.refresh()).toEqual(base);
  const mine = await one.commit(base, { operation: 'WRITE', txns: [{ appId: 'x', version: 1 }] });
  expect(mine?.txns.get('x')).toBe(1);
  expect(await two.commit(base, { operation: 'WRITE', txns: [{ appId: 'x', version: 2 }] })).toBeNull();
  expect((await two.refresh()).txns.get('x')).toBe(1);
});

test('a table that another is just making is there or not yet, and never without its beginning', async () => {
  const turn = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { turn, dir, rounds: 300, files: new URL('files.ts', import.meta.url).href };
  const maker = new Worker(
    `const { dir, files, rounds, turn } = require('node:worker_threads').workerData;
    import(files).then(({ tryCommit }) => {
      for (let round = 0; round < rounds; round++) {
        Atomics.wait(turn, 0, round);
        tryCommit(dir + '/' + round, 0, '{}\\n');
      }
    });`,
    { eval: true, workerData },
  );
  const gone = once(maker, 'exit');
  for (let round = 0; round < workerData.rounds; round++) {
    Atomics.store(turn, 0, round + 1);
    Atomics.notify(turn, 0);
    while ((await readSnapshot(join(dir, String(round)))).version < 0);
  }
  await gone;
});

test('a snapshot from a checkpoint equals one from every commit, at every version', async () => {
  const table = await openTable(dir, COLUMNS, clock);
  await commits(table, CHECKPOINT_EVERY + 3);
  const files = async (version?: number) => [...(await readSnapshot(dir, { version })).files.keys()].sort();
  const seen = new Map<number, string[]>();
  for (let version = 0; version <= CHECKPOINT_EVERY + 3; version++) seen.set(version, await files(version));
  expect(seen.get(CHECKPOINT_EVERY)).toHaveLength(CHECKPOINT_EVERY);
  // Gone, as after a trim: only the checkpoint can tell.
  for (let version = 0; version < CHECKPOINT_EVERY; version++) rmSync(commitPath(dir, version));
  expect(await files()).toEqual(seen.get(CHECKPOINT_EVERY + 3));
  expect((await readSnapshot(dir)).txns.get('log/topic/0')).toBe((CHECKPOINT_EVERY + 3) * 10);
  expect((await readSnapshot(dir)).metaData?.schemaString).toBe(deltaSchema(COLUMNS));
  await expect(readSnapshot(dir, { version: 3 })).rejects.toMatchObject({ code: 'delta_version_missing' });
});

test('a checkpoint cut short is passed over', async () => {
  await commits(await openTable(dir, COLUMNS, clock), CHECKPOINT_EVERY + 1);
  const files = async () => [...(await readSnapshot(dir)).files.keys()].sort();
  const whole = await files();
  truncateSync(checkpointPath(dir, CHECKPOINT_EVERY), 100);
  expect(await files()).toEqual(whole);
  writeFileSync(lastCheckpointPath(dir), '{"version":');
  expect(await files()).toEqual(whole);
  expect(whole).toHaveLength(CHECKPOINT_EVERY + 1);
});

test('a commit file half written and a missing version have names', async () => {
  await commits(await openTable(dir, COLUMNS, clock), 4);
  const newest = commitPath(dir, 4);
  const text = readFileSync(newest, 'utf8');
  for (const cut of [0, 1, Math.floor(text.length / 2), text.length - 2]) {
    writeFileSync(newest, text.slice(0, cut));
    await expect(readSnapshot(dir)).rejects.toMatchObject({ code: 'delta_commit_damaged' });
  }
  writeFileSync(newest, text);
  rmSync(commitPath(dir, 2));
  await expect(readSnapshot(dir)).rejects.toMatchObject({
    code: 'delta_version_missing',
    message: expect.stringContaining('version 2'),
  });
  rmSync(commitPath(dir, 0));
  await expect(readSnapshot(dir)).rejects.toMatchObject({ code: 'delta_version_missing' });
});

test('rows of a file whose statistics another program wrote as no JSON, or not at all, are not known', () => {
  const add = addOf('a.parquet', { size: 1, rows: 7 }, 0);
  expect(rowsOf(add)).toBe(7);
  for (const stats of ['{"numRecords":7', '{"numRecords":"7"}', '', null, undefined])
    expect(rowsOf({ ...add, stats })).toBeNull();
});

test('a table whose folder has vanished is not begun again in the middle', () => {
  rmSync(dir, { recursive: true });
  expect(() => tryCommit(dir, 7, '{}\n')).toThrow(expect.objectContaining({ code: 'delta_commit_failed' }));
});

test('a column that a release brings is added; one that changed its type is refused', async () => {
  await openTable(dir, COLUMNS, clock);
  const wider = [...COLUMNS, { name: 'b', type: { kind: 'long' } } as const];
  await openTable(dir, wider, clock);
  expect((await readSnapshot(dir)).metaData?.schemaString).toBe(deltaSchema(wider));
  const other = wider.map((column) => ({ ...column, type: { kind: 'boolean' } as const }));
  await expect(openTable(dir, other, clock)).rejects.toMatchObject({
    code: 'table_schema_differs',
  });
});

test('an older release is refused by the table of a newer one, also when it has it open already', async () => {
  const old = await openTable(dir, COLUMNS, clock);
  const wider = [...COLUMNS, { name: 'b', type: { kind: 'long' } } as const];
  const base = await old.refresh();
  await openTable(dir, wider, clock);
  expect(await old.commit(base, { operation: 'WRITE' })).toBeNull();
  const refused = { code: 'table_newer', message: expect.stringMatching(/newer release \(b\)/) };
  await expect(old.refresh()).rejects.toMatchObject(refused);
  await expect(openTable(dir, COLUMNS, clock)).rejects.toMatchObject(refused);
  expect((await readSnapshot(dir)).version).toBe(1);
});

test('a table of which another program asks more of its writers is read, and not written', async () => {
  const table = await openTable(dir, COLUMNS, clock);
  await commits(table, 1);
  const { version, files } = await table.refresh();
  tryCommit(dir, version + 1, '{"protocol":{"minReaderVersion":1,"minWriterVersion":4}}\n');
  const refused = { code: 'delta_too_new', message: expect.stringContaining('version 4') };
  await expect(table.refresh()).rejects.toMatchObject(refused);
  await expect(openTable(dir, COLUMNS, clock)).rejects.toMatchObject(refused);
  expect((await readSnapshot(dir)).files).toEqual(files);
});

test('removed files and uncommitted leftovers stay for a day, then go; what is in use stays', async () => {
  const table = await openTable(dir, COLUMNS, clock);
  await commits(table, 2);
  const base = await table.refresh();
  const [gone] = [...base.files.keys()];
  if (!gone) throw new Error('no file');
  await table.commit(base, {
    operation: 'OPTIMIZE',
    removes: [{ path: gone, deletionTimestamp: now, dataChange: false }],
  });
  writeFileSync(join(dir, 'part-leftover.parquet'), 'half');
  utimesSync(join(dir, 'part-leftover.parquet'), now / 1000, now / 1000);
  const left = () => readdirSync(dir).filter((name) => name.endsWith('.parquet')).length;
  expect(await vacuum(dir, now + KEEP_MS)).toMatchObject({ files: 0 });
  expect(left()).toBe(3);
  expect(await vacuum(dir, now + KEEP_MS + 1)).toMatchObject({ files: 2 });
  expect(left()).toBe(1);
});

test('commits below an old checkpoint go; a reader that slept meanwhile goes on from it', async () => {
  const table = await openTable(dir, COLUMNS, clock);
  await commits(table, 3);
  const asleep = await table.refresh();
  await commits(table, CHECKPOINT_EVERY * 2);
  const old = now / 1000 - 2 * 24 * 3600;
  utimesSync(checkpointPath(dir, CHECKPOINT_EVERY), old, old);
  utimesSync(checkpointPath(dir, CHECKPOINT_EVERY * 2), old, old);
  expect((await vacuum(dir, now)).versions).toBeGreaterThan(CHECKPOINT_EVERY * 2 - 1);
  expect(readdirSync(logDir(dir)).filter((name) => name.endsWith('.json')).length).toBeLessThan(8);
  expect((await readSnapshot(dir, { from: asleep })).files).toEqual((await readSnapshot(dir)).files);
});

test('every table can be described to a Delta reader', async () => {
  const columns = tableColumns('sessions');
  const { fields } = JSON.parse(deltaSchema(columns));
  expect(fields.find((field: { name: string }) => field.name === 'chains').type.elementType.type).toBe(
    'struct',
  );
  const writer = await openParquetWriter();
  const path = join(dir, 'empty.parquet');
  expect(await writer.write(path, columns, newSheet(columns))).toMatchObject({ rows: 0 });
  writer.close();
  now += 1;
});
