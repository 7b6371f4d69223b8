import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { test } from '@fast-check/vitest';
import fc from 'fast-check';
import { afterAll, describe, expect } from 'vitest';
import type { Cells } from '../table.ts';
import { exportRows } from './export.ts';
import { runPrompt, splitStatements } from './prompt.ts';
import { format } from './result.ts';

const dir = mkdtempSync(join(tmpdir(), 'flipstream-sql-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const columns = ['a', 'b'];
const value = fc.oneof(
  fc.constantFrom(null, '', '"', ',', '\r\n', 'a\n"b",c'),
  fc.string(),
  fc.integer(),
  fc.bigInt(),
);
const rows = fc.array(fc.tuple(value, value), { maxLength: 8 });

async function* chunks(all: readonly Cells[]): AsyncGenerator<readonly Cells[]> {
  for (let i = 0; i < all.length; i += 3) yield all.slice(i, i + 3);
}

describe('an export', () => {
  test.prop([rows, fc.constantFrom<'csv' | 'json'>('csv', 'json')], { numRuns: 60 })(
    'P5 counts what it wrote again from the file',
    async (all, as) => {
      const file = join(dir, `x.${as}`);
      const told: number[] = [];
      const count = await exportRows(file, { columns, total: all.length, rows: chunks(all) }, as, (n) =>
        told.push(n),
      );
      expect(count).toBe(all.length);
      expect(told.at(-1) ?? 0).toBe(all.length);
      const text = readFileSync(file, 'utf8');
      expect(text).toBe(format({ columns, rows: all }, as));
      if (as === 'json') expect(JSON.parse(text)).toHaveLength(all.length);
    },
  );

  test('P5 that is short fails and leaves no file', async () => {
    const file = join(dir, 'short.csv');
    const short = {
      columns,
      total: 3,
      rows: chunks([
        [1, 2],
        [3, 4],
      ]),
    };
    await expect(exportRows(file, short, 'csv', () => {})).rejects.toThrow(
      /2 rows arrived in it and the query gave 3/,
    );
    await expect(exportRows(join(dir, 'no', 'x.csv'), short, 'csv', () => {})).rejects.toThrow();
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(dir).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});

test('NULL and the empty string differ in CSV', () => {
  expect(format({ columns, rows: [[null, '']] }, 'csv')).toBe('a,b\r\n,""\r\n');
});

test('numbers stand to the right in a table, and control characters do not reach the terminal', () => {
  const table = format(
    {
      columns: ['n', 's'],
      rows: [
        [5, 'a\u001b[31m\nb'],
        [10, null],
      ],
    },
    'table',
  );
  expect(table).toBe(' n  s\n--  --------\n 5  a\u00b7[31m b\n10\n(2 rows)\n');
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
      return { columns: ['x'], rows: [[1]] };
    };
    let out = '';
    const stdout = new Writable({
      write(chunk, _, done) {
        out += chunk;
        done();
      },
    });
    const typed = 'select\n1;\nbad;\n.format csv\nselect 2;\n.quit\nselect 3;\n';
    const stdin = Object.assign(new PassThrough().end(typed), { isTTY: false });
    const signal = new AbortController().signal;
    const io = { stdin, stdout, stderr: stdout, env: {}, cwd: dir, clock: Date.now, signal };
    expect(await runPrompt(io, query, join(dir, 'history'), 'table')).toBe(1);
    expect(asked).toEqual(['select\n1', 'bad', 'select 2']);
    expect(out).toContain('no such thing');
    expect(out).toContain('x\r\n1\r\n');
  });
});
