import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import {
  event,
  landAll,
  newPlace,
  openLog,
  type Place,
  session,
  verdict,
} from '../consumers/sink/testing.ts';
import type { EmbeddedLog } from '../log/embedded/open.ts';
import { openReader, query } from './query.ts';
import { TABLE_NAMES } from './tables.ts';
import { VIEWS } from './views.sql.ts';

let place: Place;
let log: EmbeddedLog;
const ask = async (sql: string) => (await query(place.warehouse, sql, { memoryMiB: 256, threads: 1 })).rows;

beforeAll(async () => {
  place = newPlace();
  log = await openLog(place);
  const call = { type: 'tool_call', role: null, text_redacted: null, tool_name: 'Bash' } as const;
  await log.publish([
    event('s1', 0, { role: 'user', text_redacted: 'fix it' }),
    event('s1', 1, {
      ...call,
      tool_use_id: 'u1',
      status: 'interrupted',
      synthetic: true,
      input_redacted: '{"a":1}',
    }),
    event('s1', 3, {
      ...call,
      tool_use_id: 'u2',
      status: 'error',
      exit_code: 2,
      result_redacted: 'no such file',
    }),
    event('s1', 2, {
      ...call,
      tool_use_id: 'u1',
      status: 'ok',
      exit_code: 0,
      output_redacted: 'done',
      input_redacted: '{"a":1}',
    }),
    event('s1', 4, { role: 'assistant', text_redacted: 'fixed' }),
  ]);
  const graded = { task_id: 't1', attempts: 1, usable: true };
  await log.publish([
    session('s1', { ...graded, outcome: 'flipped' }),
    session('s2', { ...graded, outcome: 'no_flip' }),
    session('s3', { ...graded, task_id: 't2', outcome: 'flipped' }),
    session('s4', { ...graded, usable: false, outcome: 'flipped' }),
    verdict('v1', 's1'),
    verdict('base', 's1', 'baseline'),
  ]);
  await landAll(log, place);
});
afterAll(async () => {
  await log.close();
  place.remove();
});

test('without a warehouse every table and view is there, and empty', async () => {
  const empty = newPlace();
  const fixed = 'harness_capabilities'; // of no session
  for (const name of [...TABLE_NAMES, ...VIEWS.map((view) => view.name)].filter((one) => one !== fixed)) {
    const answer = await query(empty.warehouse, `SELECT * FROM ${name}`, { memoryMiB: 256, threads: 1 });
    expect(answer.rows).toEqual([]);
    expect(answer.columns.length).toBeGreaterThan(4);
  }
  empty.remove();
});

test('a real result wins over one concluded as interrupted, and calls are in order', async () => {
  expect(await ask('SELECT n, tool_use_id, status FROM tool_calls')).toEqual([
    [1, 'u1', 'ok'],
    [2, 'u2', 'error'],
  ]);
  expect(
    await ask("SELECT who, content, answer FROM conversation WHERE session_id = 's1' ORDER BY n"),
  ).toEqual([
    ['user', 'fix it', null],
    ['tool', '{"a":1}', 'done'],
    ['tool', null, 'no such file'],
    ['assistant', 'fixed', null],
  ]);
  expect(await ask('SELECT tool_name, status, exit_code, calls, share FROM failures')).toEqual([
    ['Bash', 'error', 2, 1, 0.5],
  ]);
});

test('flip rates count only usable sessions', async () => {
  expect(await ask('SELECT task_id, graded, flipped, flip_rate FROM task_flip_rates')).toEqual([
    ['t2', 1, 1, 1],
    ['t1', 2, 1, 0.5],
  ]);
  expect(await ask('SELECT verdict_id FROM grades')).toEqual([['v1']]);
});

test('answers are typed: numbers where they are exact, strings beyond, lists and records as such', async () => {
  const [row] = await ask(
    "SELECT 9007199254740991, 9007199254740993, sum(seq), [1], {a: 'b'}, 'x'::BLOB, 1.5 FROM events",
  );
  expect(row).toEqual([9007199254740991, '9007199254740993', 10, [1], { a: 'b' }, '78', 1.5]);
});

test('reads only: nothing is written, nothing outside is read, and a mistake has a name', async () => {
  const out = join(place.warehouse, 'x.csv');
  for (const sql of [
    `COPY events TO '${out}'`,
    `EXPLAIN ANALYZE COPY events TO '${out}'`,
    `ATTACH '${out}' AS x`,
    "SET memory_limit = '90GB'",
    `EXPORT DATABASE '${place.warehouse}/x'`,
    `PRAGMA profiling_output = '${out}'`,
    `SELECT 1; COPY events TO '${out}'`,
  ]) {
    await expect(ask(sql), sql).rejects.toMatchObject({ code: 'sql_read_only', kind: 'usage' });
  }
  await expect(ask(`SELECT * FROM read_text('${import.meta.filename}')`)).rejects.toMatchObject({
    code: 'sql',
  });
  await expect(ask('SELEC 1')).rejects.toMatchObject({
    code: 'sql',
    message: expect.stringContaining('SELEC'),
  });
  expect(existsSync(out)).toBe(false);
});

test('a statement is streamed as it is answered, however many semicolons end it', async () => {
  const reader = await openReader(place.warehouse, { memoryMiB: 256, threads: 1 });
  for (const end of ['', ';', ' ; ', ';;\n', ' -- all']) {
    const { total, rows } = await reader.stream(`SELECT 1 AS one${end}`);
    expect(total).toBe(1);
    for await (const chunk of rows) expect(chunk).toEqual([[1]]);
  }
  reader.close();
});

test('a reader that cannot be opened leaves nothing behind', async () => {
  const closed = vi.spyOn(DuckDBInstance.prototype, 'closeSync');
  // No folder.
  await expect(openReader(import.meta.filename)).rejects.toThrow();
  expect(closed).toHaveBeenCalledTimes(1);
});

test('an open reader sees what lands while it is open', async () => {
  const reader = await openReader(place.warehouse, { memoryMiB: 256, threads: 1 });
  const count = async () =>
    (await reader.query("SELECT count(*) FROM events WHERE session_id = 'late'")).rows;
  expect(await count()).toEqual([[0]]);
  await log.publish([event('late', 0)]);
  await landAll(log, place);
  expect(await count()).toEqual([[1]]);
  reader.close();
});

test('an open reader sees tables that were put in the place of others, at whatever version they are', async () => {
  const [old, fresh] = [newPlace(), newPlace()];
  onTestFinished(() => {
    for (const one of [old, fresh]) one.remove();
  });
  for (const [one, id] of [
    [old, 'old'],
    [fresh, 'fresh'],
  ] as const) {
    const its = await openLog(one);
    await its.publish([event(id, 0)]);
    await landAll(its, one);
    await its.close();
  }
  const reader = await openReader(old.warehouse);
  const ids = async () => (await reader.query('SELECT session_id FROM events')).rows;
  expect(await ids()).toEqual([['old']]);
  rmSync(old.warehouse, { recursive: true });
  renameSync(fresh.warehouse, old.warehouse);
  expect(await ids()).toEqual([['fresh']]);
  reader.close();
});

test('imported sessions are marked row by row, and counted with our own nowhere', async () => {
  const call = { type: 'tool_call', role: null, text_redacted: null, tool_name: 'Bash' } as const;
  const theirs = { capture: 'imported', harness: 'swe-agent' } as const;
  const id = 'import:swe-agent:1';
  await log.publish([
    event(id, 0, { ...call, ...theirs, status: 'error', exit_code: 2 }),
    event(id, 1, { ...theirs, type: 'notice', role: null, kind: 'evaluation_report', verdict: 'PASS' }),
    session(id, {
      capture: 'imported',
      marks: ['imported'],
      usable: false,
      task_id: 't1',
      outcome: 'no_task',
    }),
  ]);
  const own = ['failures', 'task_flip_rates', 'metrics', 'grades'];
  const shown = () => Promise.all(own.map((view) => ask(`SELECT * FROM ${view} ORDER BY ALL`)));
  const before = await shown();
  await landAll(log, place);
  expect(await shown()).toEqual(before);
  for (const view of ['tool_calls', 'conversation', 'notices'])
    expect(await ask(`SELECT DISTINCT session_id FROM ${view} WHERE imported`), view).toEqual([[id]]);
  expect(await ask("SELECT count(*) FROM tool_calls WHERE imported AND status = 'error'")).toEqual([[1]]);
});

test('what the harness does not tell is told apart from what did not happen', async () => {
  const call = { type: 'tool_call', role: null, tool_name: 'shell', tool_kind: 'shell' } as const;
  await log.publish([
    event('c1', 0, { ...call, harness: 'codex', status: null }),
    event('o1', 0, { ...call, harness: 'opencode', status: 'ok', exit_code: 0 }),
    event('o1', 1, { ...call, harness: 'opencode', status: 'error' }),
    event('import:codex:c2', 0, { ...call, harness: 'codex', capture: 'imported', status: 'ok' }),
    event('import:atif:a1', 0, { ...call, harness: 'some-agent', capture: 'imported', status: null }),
  ]);
  await landAll(log, place);
  const rows = await ask(`
    SELECT e.harness, e.seq,
      CASE WHEN e.exit_code IS NOT NULL THEN 'told' WHEN c.given = 'no' THEN 'not told by it'
        WHEN c.given IS NULL THEN 'nobody knows' ELSE 'was none' END
    FROM events e LEFT JOIN harness_capabilities c ON c.harness = e.harness AND c.capability = 'exit_code'
      AND c.imported = (e.capture IS NOT DISTINCT FROM 'imported')
    WHERE e.session_id IN ('c1', 'o1', 'import:codex:c2', 'import:atif:a1') ORDER BY ALL`);
  expect(rows).toEqual([
    ['codex', 0, 'nobody knows'],
    ['codex', 0, 'not told by it'],
    ['opencode', 0, 'told'],
    ['opencode', 1, 'was none'],
    ['some-agent', 0, 'nobody knows'],
  ]);
  expect(await ask("SELECT count(*) FROM harness_capabilities WHERE harness = 'codex'")).toEqual([[24]]);
});
