import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { event, landAll, newPlace, openLog, type Place } from '../consumers/sink/testing.ts';
import { compact } from './compact.ts';
import { lockCompaction } from './one-compaction.ts';
import { query } from './query.ts';

let place: Place;
beforeEach(async () => {
  place = newPlace();
  const log = await openLog(place);
  for (let round = 0; round < 3; round++) {
    await log.publish([event('s', round)]);
    await landAll(log, place);
  }
  await log.close();
});
afterEach(() => place.remove());

const run = () => compact({ warehouse: place.warehouse, clock: Date.now, from: 2, memoryMiB: 256 });
const made = (report: Awaited<ReturnType<typeof run>>) => report.reduce((sum, table) => sum + table.made, 0);
const spill = () => join(place.warehouse, '.spill');
function spilled(name: string): string {
  mkdirSync(spill(), { recursive: true });
  writeFileSync(join(spill(), name), 'rows');
  return join(spill(), name);
}

test('of two compactions at once one works, and the other leaves it and what it spilled alone', async () => {
  const reports = await Promise.all([run(), run()]);
  expect(reports.map((report) => report.length).sort()).toEqual([0, 8]);
  expect(reports.map(made).sort()).toEqual([0, 1]);
  const unlock = lockCompaction(place.warehouse);
  const live = spilled('live');
  expect(await run()).toEqual([]);
  expect(existsSync(live)).toBe(true);
  unlock?.();
  expect(await run()).toHaveLength(8);
  expect(existsSync(spill())).toBe(false);
  expect((await query(place.warehouse, 'SELECT count(*) FROM events')).rows).toEqual([[3]]);
});

test('a lock that cannot be opened is told of, and is no other compaction', async () => {
  mkdirSync(join(place.warehouse, '.compaction.lock'));
  await expect(run()).rejects.toMatchObject({ code: 'lock_unusable' });
});

test('one that was killed keeps no other from its turn, and what it spilled is swept', async () => {
  const file = JSON.stringify(new URL('one-compaction.ts', import.meta.url).href);
  const script = `import(${file}).then(({ lockCompaction }) => {
    lockCompaction(process.argv[1]);
    process.stdout.write('locked');
    setInterval(() => {}, 1000);
  })`;
  const child = spawn(process.execPath, ['-e', script, place.warehouse], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  spilled('left');
  expect(await run()).toEqual([]);
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  expect(made(await run())).toBe(1);
  expect(existsSync(spill())).toBe(false);
});
