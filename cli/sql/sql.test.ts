import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { runPrompt, splitStatements } from './prompt.ts';
import { format } from './result.ts';

const dir = mkdtempSync(join(tmpdir(), 'flipstream-sql-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const columns = ['a', 'b'];

test('NULL and the empty string differ in CSV', () => {
  expect(format({ columns, rows: [[null, '']] }, 'csv')).toBe('a,b\n,""\n');
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
    expect(out).toContain('x\n1\n');
  });
});
