import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { test } from '@fast-check/vitest';
import fc from 'fast-check';
import { afterAll, describe, expect } from 'vitest';
import { assertWhole, countRows, exportRows } from './export.ts';
import { runPrompt, splitStatements } from './prompt.ts';
import { format, pieces } from './result.ts';

const dir = mkdtempSync(join(tmpdir(), 'flipstream-sql-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const value = fc.oneof(
  fc.constantFrom(null, '', '"', ',', '\r\n', 'a\n"b",c'),
  fc.string(),
  fc.integer(),
  fc.bigInt(),
);
const result = fc
  .array(fc.record({ a: value, b: value }), { maxLength: 8 })
  .map((rows) => ({ columns: ['a', 'b'], rows }));

describe('an export', () => {
  test.prop([result, fc.constantFrom<'csv' | 'json'>('csv', 'json')], { numRuns: 60 })(
    'P5 counts what it wrote again from the file',
    async (rows, as) => {
      const file = join(dir, `x.${as}`);
      expect(await exportRows(file, rows, as)).toBe(rows.rows.length);
      expect(readFileSync(file, 'utf8')).toBe(format(rows, as));
      if (as === 'json') expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveLength(rows.rows.length);
    },
  );

  test('P5 that is short fails and leaves no file', async () => {
    const file = join(dir, 'short.csv');
    const rows = { columns: ['a'], rows: [{ a: 1 }, { a: 2 }] };
    await exportRows(file, rows, 'csv');
    expect(await countRows(file, 'csv')).toBe(2);
    expect(() => assertWhole(file, 1, 2)).toThrow(/1 rows arrived in it and the query gave 2/);
    await expect(exportRows(join(dir, 'no', 'x.csv'), rows, 'csv')).rejects.toThrow();
    expect(existsSync(join(dir, 'no'))).toBe(false);
    expect(readdirSync(dir).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test.prop([result])('in pieces is the same text', (rows) => {
    expect([...pieces(rows, 'csv')].join('')).toBe(format(rows, 'csv'));
    expect([...pieces(rows, 'json')].join('')).toBe(format(rows, 'json'));
  });
});

test('NULL and the empty string differ in CSV', () => {
  expect(format({ columns: ['a', 'b'], rows: [{ a: null, b: '' }] }, 'csv')).toBe('a,b\r\n,""\r\n');
});

test('numbers stand to the right in a table, and control characters do not reach the terminal', () => {
  const rows = [
    { n: 5, s: 'a\u001b[31m\nb' },
    { n: 10, s: null },
  ];
  expect(format({ columns: ['n', 's'], rows }, 'table')).toBe(
    ' n  s\n--  --------\n 5  a\u00b7[31m b\n10\n(2 rows)\n',
  );
});

describe('the prompt', () => {
  test.each([
    ['select 1; select 2;', ['select 1', 'select 2'], ''],
    ["select ';' ; ", ["select ';'"], ' '],
    ['select 1 -- ; no\n+ 1;', ['select 1 -- ; no\n+ 1'], ''],
    ["select 'open ;", [], "select 'open ;"],
    ['/* ; */ select 1;', ['/* ; */ select 1'], ''],
    [';;', [], ''],
  ])('cuts %j', (text, statements, rest) => {
    expect(splitStatements(text)).toEqual({ statements, rest });
  });

  test('takes a statement over several lines, goes on after an error, and ends', async () => {
    const asked: string[] = [];
    const query = async (sql: string) => {
      asked.push(sql);
      if (sql.includes('bad')) throw new Error('no such thing');
      return { columns: ['x'], rows: [{ x: 1 }] };
    };
    let out = '';
    const stdout = new Writable({
      write(chunk, _, done) {
        out += chunk;
        done();
      },
    });
    const stdin = Object.assign(
      new PassThrough().end('select\n1;\nbad;\n.format csv\nselect 2;\n.quit\nselect 3;\n'),
      { isTTY: false },
    );
    const io = {
      stdin,
      stdout,
      stderr: stdout,
      env: {},
      cwd: dir,
      clock: Date.now,
      signal: new AbortController().signal,
    };
    expect(await runPrompt(io, query, join(dir, 'history'), 'table')).toBe(1);
    expect(asked).toEqual(['select\n1', 'bad', 'select 2']);
    expect(out).toContain('no such thing');
    expect(out).toContain('x\r\n1\r\n');
  });
});
