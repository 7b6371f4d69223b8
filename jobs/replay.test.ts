import { afterEach, beforeEach, expect, test } from 'vitest';
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
import { blankTask } from '../schemas/testing.ts';
import { query } from '../warehouse/query.ts';
import { TABLE_NAMES, tableColumns } from '../warehouse/tables.ts';
import { replay } from './replay.ts';

let from: Place;
let to: Place;
let source: EmbeddedLog;
let fresh: EmbeddedLog;
beforeEach(async () => {
  [from, to] = [newPlace(), newPlace()];
  [source, fresh] = [await openLog(from), await openLog(to)];
  await source.publish(
    Array.from({ length: 2500 }, (_, i) => event(`s${i % 7}`, i, { redactions: i % 9 ? [] : [step] })),
  );
  await source.publish([
    verdict('v1', 's1'),
    verdict('base', 's1', 'baseline'),
    verdict('base', 's2', 'baseline'),
  ]);
  await source.publish([{ topic: 'tasks', key: 't1', value: { ...blankTask('t1'), family: 'f' } }]);
  await source.publish([{ topic: 'trace.quarantine', key: 's1', value: quarantined }]);
  await landAll(source, from);
});
afterEach(async () => {
  await Promise.all([source.close(), fresh.close()]);
  from.remove();
  to.remove();
});

const step = { field: 'text', before: 'a', after: 'b', rule: 'r', scanner: 's' };
const quarantined = {
  event_id: 'e',
  session_id: 's1',
  ts: '2026-01-01T00:00:00.000Z',
  type: 'message',
  reason: 'hit',
  rules: ['aws'],
  scanner: 'x@1',
  content: null,
};

/** Every row of every table, without the columns that begin with `_`. */
async function contents({ warehouse }: Place) {
  const all: Record<string, unknown[]> = {};
  for (const table of TABLE_NAMES) {
    const columns = tableColumns(table).filter(({ name }) => !name.startsWith('_'));
    const list = columns.map(({ name }) => `"${name}"`).join(', ');
    all[table] = (await query(warehouse, `SELECT ${list} FROM ${table} ORDER BY ALL`)).rows;
  }
  return all;
}

test('replay from the archive and from the log: the same rows in every table, but for columns with _', async () => {
  const before = await contents(from);
  expect(before.events).toHaveLength(2500);
  const counts = await replay({ from: { warehouse: from.warehouse }, into: fresh });
  expect(counts).toEqual({ tasks: 1, verdicts: 3, events: 2500, quarantine: 1, deadletter: 0 });
  await landAll(fresh, to);
  expect(await contents(to)).toEqual(before);
  // Under each session's own key, where the join looks for a baseline.
  expect((await query(to.warehouse, 'SELECT _key FROM verdicts ORDER BY 1')).rows).toEqual([
    ['s1'],
    ['s1'],
    ['s2'],
  ]);

  const third = newPlace();
  const log = await openLog(third);
  expect(await replay({ from: { log: source }, into: log })).toEqual(counts);
  await landAll(log, third);
  expect(await contents(third)).toEqual(before);
  await log.close();
  third.remove();
});

test('a log that holds records already is refused', async () => {
  await fresh.publish([session('s', {})]);
  await expect(replay({ from: { log: source }, into: fresh })).rejects.toMatchObject({
    code: 'replay_not_fresh',
  });
});

test('until a moment: what happened after it is not there, from the archive as from the log', async () => {
  const { rows } = await query(from.warehouse, 'SELECT ts FROM events ORDER BY ts');
  const until = String(rows[999]?.[0]);
  const expected = rows.filter(([ts]) => String(ts) <= until).length;
  expect(expected).toBeLessThan(2500);
  const counts = await replay({ from: { warehouse: from.warehouse }, into: fresh, until });
  expect(counts).toMatchObject({ events: expected });
  const third = newPlace();
  const log = await openLog(third);
  expect(await replay({ from: { log: source }, into: log, until })).toEqual(counts);
  await log.close();
  third.remove();
});
