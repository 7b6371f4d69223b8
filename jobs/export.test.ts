import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterAll, beforeAll, expect } from 'vitest';
import { countRows, type ExportFormat, exportQuery, exportRows } from './export.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'flipstream-export-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const FORMATS: ExportFormat[] = ['jsonl', 'json', 'csv'];
const SQL = `SELECT i, 'a "quoted" one,
over two lines' AS text, CASE WHEN i % 2 = 0 THEN NULL ELSE '' END AS empty, [i] AS list FROM range(5000) t(i)`;

test('P5 an export truncated by a limit reports success: here a short one fails and leaves no file', async () => {
  for (const format of FORMATS) {
    const out = join(dir, `short.${format}`);
    const rows = [Array.from({ length: 9 }, (_, i) => [i])];
    await expect(exportRows({ columns: ['i'], rows, total: 10, out, format })).rejects.toMatchObject({
      code: 'export_short',
      message: expect.stringMatching(/10 rows were to be written, 9 were, and the file holds 9/),
    });
    expect(existsSync(out)).toBe(false);
  }
});

test('P5 the count comes from the file: bytes lost after the write are noticed', async () => {
  for (const format of FORMATS) {
    const out = join(dir, `cut.${format}`);
    await exportQuery(dir, SQL, { out, format });
    expect(await countRows(out, format)).toBe(5000);
    truncateSync(out, readFileSync(out).length - 40);
    expect(await countRows(out, format)).not.toBe(5000);
  }
});

test('what is exported is what was asked for, more than one chunk of it', async () => {
  const out = join(dir, 'whole.jsonl');
  expect(await exportQuery(dir, SQL, { out, format: 'jsonl' })).toMatchObject({ rows: 5000 });
  const lines = readFileSync(out, 'utf8').trimEnd().split('\n');
  expect(JSON.parse(lines[4999] ?? '')).toEqual({
    i: 4999,
    text: 'a "quoted" one,\nover two lines',
    empty: '',
    list: [4999],
  });
  const json = join(dir, 'whole.json');
  await exportQuery(dir, `${SQL} ;`, { out: json, format: 'json' });
  expect(JSON.parse(readFileSync(json, 'utf8'))).toHaveLength(5000);
});

test.prop([
  fc.array(
    fc.tuple(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('a"\r\n,')), fc.option(fc.integer())),
  ),
])('any values are counted right in every format', async (rows) => {
  for (const format of FORMATS) {
    const out = join(dir, `any.${format}`);
    const written = await exportRows({
      columns: ['a', 'b"'],
      rows: [rows],
      total: rows.length,
      out,
      format,
      overwrite: true,
    });
    expect(written.rows).toBe(rows.length);
  }
});

test('a file that is there is not replaced unasked', async () => {
  const out = join(dir, 'mine.csv');
  writeFileSync(out, 'mine');
  await expect(exportQuery(dir, 'SELECT 1', { out, format: 'csv' })).rejects.toMatchObject({
    code: 'export_exists',
  });
  expect(readFileSync(out, 'utf8')).toBe('mine');
  await exportQuery(dir, 'SELECT 1 AS one', { out, format: 'csv', overwrite: true });
  expect(readFileSync(out, 'utf8')).toBe('one\n1\n');
});
