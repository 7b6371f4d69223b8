import { afterAll, beforeAll, expect, test } from 'vitest';
import { landAll, metric, newPlace, openLog, type Place } from '../consumers/sink/testing.ts';
import type { EmbeddedLog } from '../log/embedded/open.ts';
import { query } from './query.ts';

let place: Place;
let log: EmbeddedLog;
beforeAll(async () => {
  place = newPlace();
  log = await openLog(place);
  await log.publish([
    metric('2026-01-01', 'busy', {
      ...{ sessions: 16, with_task: 12, graded: 8, flipped: 5, no_flip: 3, attempts: 20 },
      ...{ oracle_errors: 2, withheld: 6, gaps: 7 },
    }),
    metric('2026-01-02', 'no-tasks', { sessions: 3 }),
    metric('2026-01-02', 'left'),
    metric('2025-01-01', 'earlier-release', {
      sessions: 4,
      graded: 1,
      flipped: 1,
      attempts: 1,
      with_task: null,
    }),
  ]);
  await landAll(log, place);
});
afterAll(async () => {
  await log.close();
  place.remove();
});

test('metrics: the counts of each bucket, and the rates that they make, newest first', async () => {
  const { columns, rows } = await query(place.warehouse, 'SELECT * FROM metrics', {
    memoryMiB: 256,
    threads: 1,
  });
  const records = rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])));
  const dimensions = { harness: null, model: null, task_family: null };
  expect(records).toEqual([
    {
      ...{ ...dimensions, day: '2026-01-02', repo: 'no-tasks', sessions: 3, with_task: 0, graded: 0 },
      ...{ flipped: 0, no_flip: 0, oracle_errors: 0, withheld: 0, gaps: 0 },
      // Of nothing that was graded there is no rate, rather than a bad one.
      ...{ flip_rate: null, attempts_per_session: null, oracle_share: 0, graded_share: 0 },
    },
    {
      ...{ ...dimensions, day: '2026-01-01', repo: 'busy', sessions: 16, with_task: 12, graded: 8 },
      ...{ flipped: 5, no_flip: 3, oracle_errors: 2, withheld: 6, gaps: 7 },
      ...{ flip_rate: 0.625, attempts_per_session: 2.5, oracle_share: 0.75, graded_share: 0.5 },
    },
    {
      ...{
        ...dimensions,
        day: '2025-01-01',
        repo: 'earlier-release',
        sessions: 4,
        with_task: null,
        graded: 1,
      },
      ...{ flipped: 1, no_flip: 0, oracle_errors: 0, withheld: 0, gaps: 0 },
      ...{ flip_rate: 1, attempts_per_session: 1, oracle_share: null, graded_share: 0.25 },
    },
  ]);
});
