/** Files half written or cut short, two of everything at once, and numbers that nothing can hold: through whole parts. */
import { copyFileSync, cpSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replay } from '../jobs/replay.ts';
import { oracleLayout } from '../oracle/home.ts';
import { startOracle } from '../oracle/main.ts';
import { entry, spool, told } from '../producers/collector/testing.ts';
import { commitPath } from '../warehouse/delta/files.ts';
import { readSnapshot } from '../warehouse/delta/snapshot.ts';
import { tableDir } from '../warehouse/tables.ts';
import { type Capture, createCapture } from './support/capture.ts';
import { createLoad, type LoadSession } from './support/load.ts';
import { createPipeline, type Pipeline } from './support/pipeline.ts';

let pipeline: Pipeline;
let capture: Capture;
let session: LoadSession;

let root: string;
beforeEach(async () => {
  pipeline = await createPipeline();
  root = pipeline.home.root;
  capture = createCapture(pipeline);
  session = createLoad(pipeline.home).session();
});
afterEach(async () => {
  await capture.stop();
  await pipeline.close();
  rmSync(root, { recursive: true, force: true }); // a test may have put another pipeline on it
});

async function run(turns: number): Promise<void> {
  for (let n = 0; n < turns; n++) session.turn();
  expect(await capture.drained()).toBe(true);
  await pipeline.settled();
}

async function start(): Promise<void> {
  await capture.start();
  pipeline.startStreams();
  await pipeline.startSink();
}

test('the newest commit of a table half written: named, nobody writes on top, and what it held lands again', async () => {
  await start();
  await run(1);
  await run(1);
  await pipeline.stopSinks();
  const { warehouse } = pipeline.home;
  const dir = tableDir(warehouse, 'events');
  const newest = commitPath(dir, (await readSnapshot(dir)).version);
  truncateSync(newest, Math.floor(statSync(newest).size / 2));
  const damaged = { code: 'delta_commit_damaged', kind: 'fatal', message: expect.stringContaining(newest) };
  await expect(pipeline.startSink()).rejects.toMatchObject(damaged);
  await expect(pipeline.sql('SELECT * FROM events')).rejects.toMatchObject(damaged);
  // As the message says.
  renameSync(newest, `${newest}.away`);
  await pipeline.startSink();
  await run(1);
  expect(await pipeline.unbroken(session.id)).toHaveLength(session.events());
});

test('a commit half written under a sink that runs: it ends with the name, and the next one loses nothing', async () => {
  await start();
  await run(1);
  await pipeline.stopSinks();
  const sink = await pipeline.startSink();
  const dir = tableDir(pipeline.home.warehouse, 'events');
  const next = commitPath(dir, (await readSnapshot(dir)).version + 1);
  copyFileSync(commitPath(dir, 0), next);
  truncateSync(next, 40);
  session.turn();
  await expect(sink.done).rejects.toMatchObject({ code: 'delta_commit_damaged' });
  rmSync(next);
  await pipeline.stopSinks();
  await pipeline.startSink();
  await run(1);
  expect(await pipeline.unbroken(session.id)).toHaveLength(session.events());
});

test('the log file cut short: every opening names it, captured events wait, and the archive fills a new log', async () => {
  await start();
  await run(2);
  await capture.stop();
  await pipeline.stopStreams();
  await pipeline.stopSinks();
  await pipeline.log.close();
  const path = join(pipeline.home.log, 'log.db');
  truncateSync(path, Math.floor(statSync(path).size / 2));
  await expect(pipeline.openLog()).rejects.toMatchObject({ code: 'log_damaged', kind: 'fatal' });
  session.turn();
  // Moved away as a whole, a new log in its place, filled from the warehouse.
  renameSync(pipeline.home.log, `${pipeline.home.log}.away`);
  const before = pipeline.home.warehouse;
  const again = await createPipeline({
    root: pipeline.home.root,
    place: (home) => ({ ...home, warehouse: `${home.warehouse}.new` }),
  });
  await replay({ from: { warehouse: before }, into: again.log });
  pipeline = again;
  capture = createCapture(again);
  await start();
  await run(1);
  expect(await again.unbroken(session.id)).toHaveLength(session.events());
  expect(await again.sql('SELECT gaps, events::INTEGER AS n FROM sessions')).toEqual([
    { gaps: 0, n: session.events() },
  ]);
});

test('an older copy of the log put in its place: the sink says so instead of passing over what comes', async () => {
  await start();
  await run(1);
  await capture.stop();
  await pipeline.stopStreams();
  await pipeline.stopSinks();
  await pipeline.log.close();
  const dir = pipeline.home.log;
  cpSync(dir, `${dir}.copy`, { recursive: true });
  const reopen = async () => {
    pipeline = await createPipeline({ root });
    capture = createCapture(pipeline);
  };
  await reopen();
  await start();
  await run(3);
  await capture.stop();
  await pipeline.close();
  rmSync(dir, { recursive: true });
  renameSync(`${dir}.copy`, dir);
  await reopen();
  await expect((await pipeline.startSink()).done).rejects.toMatchObject({
    code: 'log_rewound',
    kind: 'fatal',
  });
});

test('two collectors and two oracles on one home: the second says whose home it is, and the first goes on', async () => {
  await start();
  await run(1);
  const second = createCapture(pipeline);
  await expect(second.start()).rejects.toMatchObject({ code: 'collector_running', kind: 'usage' });
  const home = oracleLayout(join(pipeline.home.root, 'oracle'));
  const options = { home, log: capture.way, logger: pino({ level: 'silent' }) };
  const first = await startOracle(options);
  try {
    await expect(startOracle(options)).rejects.toMatchObject({ code: 'oracle_running', kind: 'usage' });
    expect((await fetch(first.url)).status).toBe(401);
  } finally {
    await first.stop();
  }
  await run(1);
  expect(await pipeline.unbroken(session.id)).toHaveLength(session.events());
});

test('numbers that Avro cannot carry stop nobody: the field is left out, the event and all others come', async () => {
  await start();
  const odd = [2 ** 53 - 1, -(2 ** 53 - 1), -(2 ** 52) - 1, 1e300, 7];
  for (const duration_ms of odd)
    spool(pipeline.home, entry(told.notice('odd', { duration_ms }), { session_id: 'odd' }));
  await run(1);
  const rows = (await pipeline.unbroken('odd')).filter(({ kind }) => kind === 'odd');
  expect(rows.map((row) => row.duration_ms)).toEqual([null, null, null, null, 7]);
  expect(await pipeline.unbroken(session.id)).toHaveLength(session.events());
});
