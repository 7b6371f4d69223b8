/** Logs of tables of which something is gone: told by name, and never begun anew or gone on with. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Column, PROVENANCE } from '../columns.ts';
import { CHECKPOINT_EVERY } from './checkpoint.ts';
import { checkpointPath, commitPath, logDir } from './files.ts';
import { readSnapshot } from './snapshot.ts';
import { addOf, newFileName, openTable, type Table } from './table.ts';
import { vacuum } from './vacuum.ts';

const COLUMNS: Column[] = [{ name: 'a', type: { kind: 'string' } }, ...PROVENANCE];
const now = Date.UTC(2026, 5, 1);
const clock = () => now;
let dir: string;
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'flipstream-lost-')), 'events');
});
afterEach(() => rmSync(join(dir, '..'), { recursive: true, force: true }));

async function commits(table: Table, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const path = newFileName();
    writeFileSync(join(dir, path), 'data');
    const adds = [addOf(path, { size: 4, rows: 1 }, now)];
    expect(await table.commit(await table.refresh(), { operation: 'WRITE', adds })).toBeTruthy();
  }
}

const inLog = () => (existsSync(logDir(dir)) ? readdirSync(logDir(dir)) : null);
const empty = () => {
  rmSync(logDir(dir), { recursive: true });
  mkdirSync(logDir(dir));
};
const lost = { code: 'delta_log_missing', kind: 'fatal', message: expect.stringContaining('events') };

test.each([
  ['is gone', () => rmSync(logDir(dir), { recursive: true }), null],
  ['is empty', empty, []],
  [
    'holds nothing but the way to a checkpoint',
    () => {
      empty();
      writeFileSync(join(logDir(dir), '_last_checkpoint'), '{"version":20,"size":3}');
    },
    ['_last_checkpoint'],
  ],
])('a table whose _delta_log %s is no new table', async (_, lose, left) => {
  await commits(await openTable(dir, COLUMNS, clock), 3);
  const whole = await readSnapshot(dir);
  cpSync(logDir(dir), `${dir}.copy`, { recursive: true });
  lose();
  await expect(readSnapshot(dir)).rejects.toMatchObject(lost);
  await expect(openTable(dir, COLUMNS, clock)).rejects.toMatchObject(lost);
  await expect(vacuum(dir, now * 2)).rejects.toMatchObject(lost);
  expect(inLog()).toEqual(left);
  // As the message says.
  rmSync(logDir(dir), { recursive: true, force: true });
  cpSync(`${dir}.copy`, logDir(dir), { recursive: true });
  expect(await readSnapshot(dir)).toEqual(whole);
  await commits(await openTable(dir, COLUMNS, clock), 1);
});

test('a table that is open goes on nowhere once its log was emptied, with files beside it or without', async () => {
  const table = await openTable(dir, COLUMNS, clock);
  await commits(table, 2);
  const base = await table.refresh();
  empty();
  expect(await table.commit(base, { operation: 'WRITE' })).toBeNull();
  expect(inLog()).toEqual([]);
  await expect(table.refresh()).rejects.toMatchObject(lost);
  for (const path of base.files.keys()) rmSync(join(dir, path));
  await expect(table.refresh()).rejects.toMatchObject(lost);
});

test('a writer that slept while the log was trimmed commits nothing where nobody reads', async () => {
  const table = await openTable(dir, COLUMNS, clock);
  const asleep = await table.refresh();
  await commits(table, CHECKPOINT_EVERY * 2);
  for (const at of [1, 2]) utimesSync(checkpointPath(dir, CHECKPOINT_EVERY * at), 1, 1);
  await vacuum(dir, now);
  expect(existsSync(commitPath(dir, asleep.version + 1))).toBe(false);
  expect(await table.commit(asleep, { operation: 'WRITE' })).toBeNull();
  expect(existsSync(commitPath(dir, asleep.version + 1))).toBe(false);
});

test('several versions missing in a row are missed as one is', async () => {
  await commits(await openTable(dir, COLUMNS, clock), 8);
  for (const version of [3, 4, 5]) rmSync(commitPath(dir, version));
  await expect(readSnapshot(dir)).rejects.toMatchObject({
    code: 'delta_version_missing',
    message: expect.stringContaining('version 3'),
  });
});

test('a checkpoint that is gone with all that came before it is missed', async () => {
  await commits(await openTable(dir, COLUMNS, clock), CHECKPOINT_EVERY + 2);
  rmSync(checkpointPath(dir, CHECKPOINT_EVERY));
  for (let version = 7; version <= CHECKPOINT_EVERY + 2; version++) rmSync(commitPath(dir, version));
  await expect(readSnapshot(dir)).rejects.toMatchObject({
    code: 'delta_version_missing',
    message: expect.stringContaining('version 7'),
  });
});

test('commits below a checkpoint that cannot be read stay, since they alone say what it held', async () => {
  await commits(await openTable(dir, COLUMNS, clock), CHECKPOINT_EVERY + 2);
  const whole = [...(await readSnapshot(dir)).files.keys()].sort();
  truncateSync(checkpointPath(dir, CHECKPOINT_EVERY), 100);
  utimesSync(checkpointPath(dir, CHECKPOINT_EVERY), 1, 1);
  expect(await vacuum(dir, now)).toMatchObject({ versions: 0 });
  expect([...(await readSnapshot(dir)).files.keys()].sort()).toEqual(whole);
});
