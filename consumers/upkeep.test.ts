import { expect, test } from 'vitest';
import { readSnapshot } from '../warehouse/delta/snapshot.ts';
import { tableDir } from '../warehouse/tables.ts';
import { event, landAll, newPlace, openLog } from './sink/testing.ts';
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
