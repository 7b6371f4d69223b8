import { expect, test } from 'vitest';
import { readSnapshot } from '../warehouse/delta/snapshot.ts';
import { type TableName, tableDir } from '../warehouse/tables.ts';
import { event, landAll, newPlace, openLog, verdict } from './sink/testing.ts';
import { startUpkeep } from './upkeep.ts';

test('small files are merged by and by, and upkeep stops when told', async () => {
  const place = newPlace();
  const log = await openLog(place);
  for (let round = 0; round < 9; round++) {
    await log.publish([event('s', round)]);
    await landAll(log, place);
  }
  const upkeep = startUpkeep({ warehouse: place.warehouse, clock: Date.now, everyMs: 10 });
  const files = async () => (await readSnapshot(tableDir(place.warehouse, 'events'))).files.size;
  await expect.poll(files, { timeout: 10_000 }).toBe(1);
  await upkeep.stop();
  await log.close();
  place.remove();
});

test('upkeep that is told to stop ends after the merge that is under way, not after all of them', async () => {
  const place = newPlace();
  const log = await openLog(place);
  for (let round = 0; round < 9; round++) {
    await log.publish([event('s', round), verdict(`v${round}`, 's')]);
    await landAll(log, place);
  }
  await log.close();
  let stopped: Promise<void> | null = null;
  const clock = () => {
    stopped ??= upkeep.stop();
    return Date.now();
  };
  const upkeep = startUpkeep({ warehouse: place.warehouse, clock, everyMs: 10 });
  await upkeep.done;
  await stopped;
  const files = async (table: TableName) => (await readSnapshot(tableDir(place.warehouse, table))).files.size;
  expect(await files('events')).toBe(1);
  expect(await files('verdicts')).toBe(9);
  place.remove();
});
