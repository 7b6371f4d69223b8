/** A really full disk under the spool, the collector's database, the log and the warehouse in turn. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask } from '../../producers/collector/testing.ts';
import type { Home } from '../../producers/home.ts';
import { hookInProcess, spooled } from '../../producers/hook/testing.ts';
import { readLosses } from '../../producers/spool/losses.ts';
import { type Capture, createCapture } from '../support/capture.ts';
import { createLoad, type LoadSession } from '../support/load.ts';
import { createPipeline, type Pipeline } from '../support/pipeline.ts';
import { mountSmallDisk, noSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const why = noSmallDisk();
if (why) console.warn(`skipped: a full disk, since ${why}`);
// CI may skip nothing: there it fails instead.
const skipped = why !== null && process.env.CI === undefined;

let disk: SmallDisk;
let pipeline: Pipeline;
let capture: Capture;
let session: LoadSession;

async function setUp(place: (home: Home) => Home): Promise<void> {
  pipeline = await createPipeline({ place });
  capture = createCapture(pipeline);
  session = createLoad(pipeline.home).session();
  await capture.start();
  pipeline.startStreams();
}

async function settled(): Promise<void> {
  expect(await capture.drained()).toBe(true);
  await pipeline.settled();
}

/** Until what the collector says of a stage fits. */
const says = (stage: 'ingest' | 'publish', what: RegExp) =>
  expect
    .poll(async () => JSON.stringify((await ask(pipeline.home, '/status')).errors), { timeout: 20_000 })
    .toMatch(new RegExp(`"${stage}":"[^"]*${what.source}`, what.flags));

describe.skipIf(skipped)('a full disk: named, nothing lost, and it goes on with space', () => {
  beforeEach(() => {
    disk = mountSmallDisk(8);
  });
  afterEach(async () => {
    try {
      await capture?.stop();
      await pipeline?.close();
    } finally {
      disk.remove();
    }
  });

  test('C1 under the spool: hooks say nothing; the reserve takes some, the rest is counted, told and marked', async () => {
    await setUp((home) => ({
      ...home,
      spool: join(disk.path, 'spool'),
      reserve: join(disk.path, 'spool', 'reserve'),
      losses: join(disk.path, 'spool', 'losses'),
    }));
    await pipeline.startSink();
    const { home } = pipeline;
    const hook = (n: number) => {
      const call = { tool_name: 'Bash', tool_use_id: `t${n}`, tool_input: { command: 'x'.repeat(60_000) } };
      const payload = { session_id: 'full', cwd: '/', hook_event_name: 'PreToolUse', ...call };
      return hookInProcess(home, JSON.stringify(payload));
    };
    expect(await hook(0)).toBe('');
    await settled();
    await capture.stop();
    disk.fill();
    for (let n = 1; n <= 60; n++) expect(await hook(n)).toBe('');
    const lost = readLosses(home).count;
    const kept = spooled(home).length;
    expect(lost).toBeGreaterThan(5);
    expect(kept).toBeGreaterThan(20);
    expect(kept + lost).toBe(60);
    disk.free();
    await capture.start();
    await settled();
    await expect
      .poll(
        async () => {
          await settled();
          const told = await pipeline.sql(
            "SELECT sum(count)::INTEGER AS n FROM events WHERE kind = 'events_lost'",
          );
          return told[0]?.n;
        },
        { timeout: 10_000 },
      )
      .toBe(lost);
    const rows = await pipeline.unbroken('full');
    expect(rows.filter(({ kind }) => kind === 'call_started')).toHaveLength(1 + kept);
    const [state] = await pipeline.sql('SELECT marks, usable FROM sessions');
    expect(state).toMatchObject({ usable: false });
    expect(state?.marks).toContain('lost_events');
  });

  test('under the collector’s database: events stay in the spool, a start names it, all of it comes', async () => {
    await setUp((home) => ({ ...home, collectorDb: join(disk.path, 'db', 'collector.db') }));
    await pipeline.startSink();
    session.turn();
    await settled();
    disk.fill();
    for (let n = 0; n < 40; n++) session.turn();
    expect(await capture.drained(200)).toBe(false);
    await says('ingest', /full|space/i);
    await capture.stop();
    disk.fill();
    await expect(capture.start()).rejects.toMatchObject({ code: 'collector_db_unusable' });
    disk.free();
    await capture.start();
    session.turn();
    await settled();
    expect(await pipeline.unbroken(session.id)).toHaveLength(session.events());
  });

  test('under the log: publishing names it and goes on, streams and sink wait, all of it comes', async () => {
    await setUp((home) => ({ ...home, log: join(disk.path, 'log') }));
    await pipeline.startSink();
    session.turn();
    await settled();
    disk.fill();
    for (let n = 0; n < 40; n++) session.turn();
    expect(await capture.drained(500)).toBe(false);
    await says('publish', /no space left/);
    disk.free();
    session.turn();
    await settled();
    expect(await pipeline.unbroken(session.id)).toHaveLength(session.events());
    expect(await pipeline.sql('SELECT * FROM deadletter')).toEqual([]);
  });

  test('under the warehouse: the sink says so and tries again, the tables stay readable, all of it lands', async () => {
    await setUp((home) => ({ ...home, warehouse: join(disk.path, 'warehouse') }));
    const warned: string[] = [];
    const warn = (message: string, error: unknown) => warned.push(`${message} ${String(error)}`);
    await pipeline.startSink({ warn });
    session.turn();
    await settled();
    const before = await pipeline.unbroken(session.id);
    disk.fill();
    for (let n = 0; n < 5; n++) session.turn();
    await expect.poll(() => warned.join('\n'), { timeout: 20_000 }).toMatch(/landing failed; trying again/);
    expect(await pipeline.unbroken(session.id)).toHaveLength(before.length);
    disk.free();
    await settled();
    expect(await pipeline.unbroken(session.id)).toHaveLength(session.events());
    expect(await pipeline.sql('SELECT gaps FROM sessions')).toEqual([{ gaps: 0 }]);
  });

  test('under the trace files: the log does not get ahead of them, all of it comes', async () => {
    await setUp((home) => ({ ...home, traces: join(disk.path, 'traces') }));
    await pipeline.startSink();
    session.turn();
    await settled();
    disk.fill();
    for (let n = 0; n < 20; n++) session.turn();
    expect(await capture.drained(300)).toBe(false);
    await says('publish', /ENOSPC|space/);
    disk.free();
    await settled();
    expect(await pipeline.unbroken(session.id)).toHaveLength(session.events());
  });
});
