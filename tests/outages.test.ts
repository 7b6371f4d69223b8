/** P1: every part in turn is away for hours of simulated time, with the others at work; afterwards nothing is lost. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createJoin } from '../streams/join/join.ts';
import { createRedact } from '../streams/redact/redact.ts';
import { type Capture, createCapture } from './support/capture.ts';
import { createLoad, type LoadSession } from './support/load.ts';
import { createPipeline, type Pipeline } from './support/pipeline.ts';

const HOUR = 3_600_000;

/** One home for all: each outage comes upon what the ones before have left. */
let pipeline: Pipeline;
let capture: Capture;
let sessions: LoadSession[];

beforeAll(async () => {
  pipeline = await createPipeline();
  capture = createCapture(pipeline);
  const load = createLoad(pipeline.home, () => pipeline.time.now);
  sessions = [load.session(), load.session()];
  await capture.start();
  pipeline.startStreams();
  await pipeline.startSink();
});
afterAll(async () => {
  await capture.stop();
  await pipeline.close();
});

function turns(): void {
  for (const session of sessions) session.turn();
  pipeline.time.now += 1_000;
}

/** Hours pass, and the log does its upkeep. */
async function later(hours: number): Promise<void> {
  pipeline.time.now += hours * HOUR;
  await pipeline.log.maintain();
}

/** Events of the load: what a quiet session gets besides (an end) is not of it. */
const LOAD = "type <> 'session_end'";
const landed = async () =>
  Number((await pipeline.sql(`SELECT count(*)::INTEGER AS n FROM events WHERE ${LOAD}`))[0]?.n);

/** Asserts that every event of the load is there once, in unbroken chains, and that none was set aside. */
async function complete(): Promise<void> {
  expect(await capture.drained()).toBe(true);
  await pipeline.settled();
  for (const session of sessions) {
    const events = await pipeline.unbroken(session.id);
    expect(events.filter(({ type }) => type !== 'session_end')).toHaveLength(session.events());
  }
  expect(await landed()).toBe(sessions.reduce((sum, session) => sum + session.events(), 0));
  expect(await pipeline.sql('SELECT * FROM deadletter')).toEqual([]);
  expect(await pipeline.sql('SELECT * FROM sessions WHERE gaps > 0')).toEqual([]);
}

interface Outage {
  begin(): Promise<void>;
  end(): Promise<void>;
  /** Whether the collector can still publish meanwhile. */
  publishes: boolean;
}

const OUTAGES: Readonly<Record<string, Outage>> = {
  'the log, not to be reached': {
    begin: async () => {
      capture.way.down = true;
    },
    end: async () => {
      capture.way.down = false;
    },
    publishes: false,
  },
  'the collector': {
    begin: () => capture.stop(),
    end: async () => void (await capture.start()),
    publishes: false,
  },
  'the streams': {
    begin: () => pipeline.stopStreams(),
    end: async () => pipeline.startStreams(),
    publishes: true,
  },
  'the sink': {
    begin: () => pipeline.stopSinks(),
    end: async () => void (await pipeline.startSink()),
    publishes: true,
  },
};

describe('P1 an outage of hours in simulated time: nothing lost, once each', () => {
  test.each(Object.entries(OUTAGES))('%s', async (name, { begin, end, publishes }) => {
    turns();
    await complete();
    const before = await landed();
    await begin();
    for (let n = 0; n < 3; n++) {
      turns();
      await later(5);
    }
    // Longer than trace.raw keeps what everyone has read.
    if (publishes) {
      expect(await capture.drained()).toBe(true);
      await later(9 * 24);
      turns();
    } else if (name !== 'the collector') expect(await capture.drained(50)).toBe(false);
    expect(await landed()).toBe(before);
    await end();
    turns();
    await complete();
  });

  test('all of them at once, then up in the order that helps least', async () => {
    turns();
    await complete();
    capture.way.down = true;
    await pipeline.stopStreams();
    await pipeline.stopSinks();
    await capture.stop();
    for (let n = 0; n < 4; n++) {
      turns();
      await later(30);
    }
    await pipeline.startSink();
    pipeline.startStreams();
    await later(1);
    await capture.start();
    expect(await capture.drained(50)).toBe(false);
    turns();
    capture.way.down = false;
    await complete();
  });
});

test('P3 the log takes what is published and its answer is lost, again and again: once each', async () => {
  turns();
  capture.way.mute = true;
  turns();
  expect(await capture.drained(100)).toBe(false);
  await later(1);
  capture.way.mute = false;
  turns();
  await complete();
});

test('a clock that jumps back, by an hour and by years: ts may go back, nothing is lost, nothing waits for the old time', async () => {
  turns();
  await complete();
  for (const back of [HOUR, 5 * 365 * 24 * HOUR]) {
    pipeline.time.now -= back;
    turns();
    await pipeline.log.maintain();
    if (back > HOUR) {
      await capture.stop();
      await pipeline.stopStreams();
      await pipeline.stopSinks();
      await capture.start();
      pipeline.startStreams();
      await pipeline.startSink();
    }
    turns();
    await complete();
  }
  const [{ back }] = (await pipeline.sql(
    'SELECT count(*)::INTEGER AS back FROM (SELECT ts < lag(ts) OVER (PARTITION BY session_id ORDER BY seq) AS b FROM events) WHERE b',
  )) as [{ back: number }];
  expect(back).toBeGreaterThanOrEqual(2 * sessions.length);
});

test('two sinks and two sets of streams on one home, started at once: once each', async () => {
  const second = await pipeline.openLog();
  const other = [second.run(createRedact()), second.run(createJoin({ keyRing: { v: 1, keys: [] } }))];
  await pipeline.startSink({ log: second });
  await pipeline.startSink({ group: 'sink-of-another' });
  for (let n = 0; n < 8; n++) turns();
  await complete();
  await Promise.all(other.map((running) => running.stop()));
});
