import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTable, type Table } from './delta/table.ts';
import { land } from './land.ts';
import { openParquetWriter } from './parquet.ts';
import { query } from './query.ts';
import { sheetOf } from './sheet.ts';
import { type TableName, tableColumns, tableDir } from './tables.ts';

async function target(warehouse: string, name: TableName) {
  const table = await openTable(tableDir(warehouse, name), tableColumns(name), Date.now);
  return { table, name, writer: await openParquetWriter({ memoryMiB: 128 }), clock: Date.now };
}

/** Rows `from` to `to` of one partition, the key column filled by `key`. */
function cargo(name: TableName, column: string, from: number, to: number, key: (offset: number) => string) {
  const columns = tableColumns(name);
  const at = columns.findIndex((candidate) => candidate.name === column);
  const rows = Array.from({ length: to - from }, (_, i) => {
    const row: unknown[] = columns.map(({ type }) => (type.kind === 'list' ? [] : null));
    row[at] = key(from + i);
    row.splice(columns.length - 4, 4, 'log', 0, from + i, '2026-01-01T00:00:00.000Z');
    return row;
  });
  return {
    sheet: sheetOf(columns, rows),
    next: new Map([[0, to]]),
    appId: (partition: number) => `log/topic/${partition}`,
  };
}

test('overlapping ranges landed at once: the later commit drops what the first one has, and lands the rest', async () => {
  const warehouse = mkdtempSync(join(tmpdir(), 'flipstream-land-'));
  const [one, two] = [await target(warehouse, 'events'), await target(warehouse, 'events')];
  const id = (offset: number) => `e${offset}`;
  const landed = await Promise.all([
    land(one, cargo('events', 'event_id', 0, 100, id)),
    land(two, cargo('events', 'event_id', 0, 150, id)),
  ]);
  expect(landed.reduce((sum, { rows }) => sum + rows, 0)).toBe(150);
  expect(landed.reduce((sum, { conflicts }) => sum + conflicts, 0)).toBe(1);
  const { rows } = await query(
    warehouse,
    'SELECT count(*), count(DISTINCT event_id), max(_offset) FROM events',
    { memoryMiB: 128 },
  );
  expect(rows).toEqual([[150, 150, 149]]);
  // The loser's first file is gone, not left lying.
  const files = readdirSync(tableDir(warehouse, 'events')).filter((file) => file.endsWith('.parquet'));
  expect(files).toHaveLength(landed[1].dropped === 150 || landed[0].dropped === 100 ? 1 : 2);
  for (const { writer } of [one, two]) writer.close();
  rmSync(warehouse, { recursive: true, force: true });
});

test('an upsert that lost the race is made again on top of the winner: no key twice, none lost', async () => {
  const warehouse = mkdtempSync(join(tmpdir(), 'flipstream-land-'));
  const [one, two] = [await target(warehouse, 'sessions'), await target(warehouse, 'sessions')];
  const other = {
    ...cargo('sessions', 'session_id', 0, 30, (offset) => `s${offset % 12}`),
    appId: () => 'other/topic/0',
  };
  const landed = await Promise.all([
    land(
      one,
      cargo('sessions', 'session_id', 0, 40, (offset) => `s${offset % 10}`),
    ),
    land(two, other),
  ]);
  expect(landed.map(({ rows }) => rows)).toEqual([40, 30]);
  const { rows } = await query(warehouse, 'SELECT count(*), count(DISTINCT session_id) FROM sessions', {
    memoryMiB: 128,
  });
  expect(rows).toEqual([[12, 12]]);
  for (const { writer } of [one, two]) writer.close();
  rmSync(warehouse, { recursive: true, force: true });
});

test('what could not be committed leaves no file behind, however often it is tried', async () => {
  const warehouse = mkdtempSync(join(tmpdir(), 'flipstream-land-'));
  for (const [name, key] of [
    ['events', 'event_id'],
    ['sessions', 'session_id'],
  ] as const) {
    const to = await target(warehouse, name);
    const files = () => readdirSync(to.table.dir).filter((file) => file.endsWith('.parquet')).length;
    const full: Table = { ...to.table, commit: () => Promise.reject(new Error('the disk is full')) };
    const rows = cargo(name, key, 0, 10, (offset) => `k${offset}`);
    await expect(land({ ...to, table: full }, rows)).rejects.toThrow('the disk is full');
    expect(files()).toBe(0);
    // Committed after all: then it has to stay.
    const late: Table = {
      ...to.table,
      commit: async (base, commit) => {
        await to.table.commit(base, commit);
        throw new Error('the disk is full');
      },
    };
    await expect(land({ ...to, table: late }, rows)).rejects.toThrow('the disk is full');
    expect(await land(to, rows)).toMatchObject({ rows: 0, dropped: 10 });
    expect((await query(warehouse, `SELECT count(*) FROM ${name}`, { memoryMiB: 128 })).rows).toEqual([[10]]);
    to.writer.close();
  }
  rmSync(warehouse, { recursive: true, force: true });
});
