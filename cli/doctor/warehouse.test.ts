import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { event, landAll, newPlace, openLog, type Place, session } from '../../consumers/sink/testing.ts';
import { layout } from '../../producers/home.ts';
import { checkWarehouse } from './warehouse.ts';

let place: Place;
beforeEach(async () => {
  place = newPlace();
  const log = await openLog(place);
  await log.publish([event('s1', 0), session('s1')]);
  await landAll(log, place);
  await log.close();
});
afterEach(() => place.remove());

const looked = async () =>
  (await checkWarehouse({ ...layout(place.dir), warehouse: place.warehouse })).map(
    ({ state, message }) => `${state} ${message}`,
  );

test('tables as their logs say are well; one without its log, and one without a file, are each told of', async () => {
  expect(await looked()).toEqual([expect.stringMatching(/^ok All 8 tables/)]);
  renameSync(join(place.warehouse, 'events', '_delta_log'), join(place.warehouse, 'gone'));
  const sessions = join(place.warehouse, 'sessions');
  for (const file of readdirSync(sessions)) if (file.endsWith('.parquet')) rmSync(join(sessions, file));
  expect(await looked()).toEqual([
    expect.stringMatching(/^problem events: .*_delta_log/),
    expect.stringMatching(/^problem sessions: .*\.parquet is missing/),
  ]);
});

test('a home in which nothing has landed is well', async () => {
  rmSync(place.warehouse, { recursive: true });
  expect(await looked()).toEqual(['ok Nothing has landed yet.']);
});
