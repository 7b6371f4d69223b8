/** How a sink begins and ends when something is wrong. */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { EmbeddedLog } from '../log/embedded/open.ts';
import type { Log } from '../log/log.ts';
import { logDir, tryCommit } from '../warehouse/delta/files.ts';
import { query } from '../warehouse/query.ts';
import { tableDir } from '../warehouse/tables.ts';
import { event, landAll, newPlace, openLog, type Place } from './sink/testing.ts';
import { type SinkOptions, startSink } from './sink.ts';

let place: Place;
let log: EmbeddedLog;
beforeEach(async () => {
  place = newPlace();
  log = await openLog(place);
});
afterEach(async () => {
  await log.close();
  place.remove();
});

const start = (options: Partial<SinkOptions> = {}) =>
  startSink({ log, warehouse: place.warehouse, clock: Date.now, flushMs: 1, ...options });
const events = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => event('a', from + index));

test('a table whose log is gone is refused, not begun anew: nothing lands twice, and nothing is lost', async () => {
  await log.publish(events(0, 20));
  await landAll(log, place);
  await log.publish(events(20, 30));
  const dir = tableDir(place.warehouse, 'events');
  const files = readdirSync(dir).filter((name) => name.endsWith('.parquet'));
  renameSync(logDir(dir), `${dir}.away`);
  await expect(start()).rejects.toMatchObject({ code: 'delta_log_missing', kind: 'fatal' });
  expect(existsSync(logDir(dir))).toBe(false);
  expect(readdirSync(dir)).toEqual(files);
  renameSync(`${dir}.away`, logDir(dir));
  await landAll(log, place);
  const { rows } = await query(place.warehouse, 'SELECT count(*), count(DISTINCT event_id) FROM events');
  expect(rows).toEqual([[30, 30]]);
});

/** How many DuckDBs were opened and not closed since. */
function openDucks(): () => number {
  const made = vi.spyOn(DuckDBInstance, 'create');
  const closed = vi.spyOn(DuckDBInstance.prototype, 'closeSync');
  onTestFinished(() => {
    made.mockRestore();
    closed.mockRestore();
  });
  return () => made.mock.calls.length - closed.mock.calls.length;
}

test('a sink that cannot start leaves nothing open: at a table that cannot be read, or at its log', async () => {
  const left = openDucks();
  tryCommit(tableDir(place.warehouse, 'verdicts'), 0, '{');
  await expect(start()).rejects.toMatchObject({ code: 'delta_commit_damaged' });
  expect(left()).toBe(0);
  rmSync(tableDir(place.warehouse, 'verdicts'), { recursive: true });
  const closed = await openLog({ ...place, logDir: `${place.logDir}.other` });
  await closed.close();
  await expect(start({ log: closed })).rejects.toThrow();
  expect(left()).toBe(0);
});

test('while nothing can land, no more is taken in than may be held', async () => {
  const warn = vi.fn();
  const sink = await start({ maxRows: 20, warn });
  const dir = tableDir(place.warehouse, 'events');
  renameSync(dir, `${dir}.away`);
  for (let round = 0; round < 40; round++) await log.publish(events(round * 10, round * 10 + 10));
  await expect.poll(() => warn.mock.calls.length, { timeout: 10_000 }).toBeGreaterThan(2);
  const lag = await log.lag();
  const taken = lag.filter(({ group, topic }) => group === 'sink' && topic === 'trace.events');
  expect(taken.reduce((sum, { committed }) => sum + committed, 0)).toBeLessThan(200);
  renameSync(`${dir}.away`, dir);
  await expect.poll(() => sink.stats().tables.events?.rows, { timeout: 15_000 }).toBe(400);
  await sink.stop();
});

test('a sink whose log fails ends with that, also while nothing can land', async () => {
  const gone = Promise.withResolvers<void>();
  const failing: Log = {
    ...log,
    consumeAvro(options) {
      const running = log.consumeAvro(options);
      const done = Promise.race([running.done, gone.promise]).finally(() => running.stop());
      return { ...running, done };
    },
  };
  const warn = vi.fn();
  const sink = await start({ log: failing, warn });
  rmSync(tableDir(place.warehouse, 'events'), { recursive: true });
  await log.publish(events(0, 5));
  await expect.poll(() => warn.mock.calls.length).toBeGreaterThan(0);
  gone.reject(new Error('the log is gone'));
  await expect(sink.done).rejects.toThrow('the log is gone');
}, 15_000);
