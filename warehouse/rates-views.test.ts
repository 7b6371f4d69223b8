/** What failed most, and how fast tasks flip: several rows of each, counted by hand. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { event, landAll, newPlace, openLog, type Place, session } from '../consumers/sink/testing.ts';
import type { EmbeddedLog } from '../log/embedded/open.ts';
import { query } from './query.ts';

let place: Place;
let log: EmbeddedLog;
const ask = async (sql: string) => (await query(place.warehouse, sql, { memoryMiB: 256, threads: 1 })).rows;

/** Calls of a session, each as `tool status exit_code`. */
const calls = (id: string, ...told: string[]) =>
  told.map((text, at) => {
    const [tool_name = '', status, code] = text.split(' ');
    const exit_code = code === undefined ? null : Number(code);
    const call = { type: 'tool_call', role: null, text_redacted: null, tool_use_id: `u${at}` } as const;
    return event(id, at, { ...call, tool_name, status, exit_code });
  });

beforeAll(async () => {
  place = newPlace();
  log = await openLog(place);
  await log.publish([
    ...calls('s1', 'Bash error 1', 'Bash error 1', 'Bash ok 0', 'Edit denied', 'Bash error 2'),
    ...calls('s2', 'Bash error 1', 'Bash ok 0', 'Read error', 'Read error'),
    ...calls('s3', 'Read error', 'Read ok', 'Bash error 1'),
  ]);
  const graded = (id: string, task_id: string, attempts: number, outcome: 'flipped' | 'no_flip') =>
    session(id, { task_id, attempts, outcome, usable: true, oracle_errors: attempts });
  await log.publish([
    ...[graded('s1', 't1', 2, 'flipped'), graded('s2', 't1', 5, 'flipped')],
    ...[graded('s3', 't1', 9, 'no_flip'), graded('s4', 't2', 4, 'no_flip')],
  ]);
  await landAll(log, place);
});
afterAll(async () => {
  await log.close();
  place.remove();
});

test('what failed most stands first, with the sessions in which it did and its share of the tool’s calls', async () => {
  expect(await ask('SELECT tool_name, status, exit_code, calls, sessions, share FROM failures')).toEqual([
    ['Bash', 'error', 1, 4, 3, 0.5714],
    ['Read', 'error', null, 3, 2, 0.75],
    ['Bash', 'error', 2, 1, 1, 0.1429],
    ['Edit', 'denied', null, 1, 1, 1],
  ]);
});

test('a task’s attempts to a flip are those of its flipped sessions, its errors those of all', async () => {
  expect(
    await ask(
      'SELECT task_id, sessions, graded, flipped, flip_rate, attempts_to_flip, oracle_errors FROM task_flip_rates',
    ),
  ).toEqual([
    ['t1', 3, 3, 2, 0.6667, 3.5, 16],
    ['t2', 1, 1, 0, 0, null, 4],
  ]);
});
