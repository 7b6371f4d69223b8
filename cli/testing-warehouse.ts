/** A home in which one graded session has come all the way from the log to the warehouse. For tests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { startSink } from '../consumers/sink.ts';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import type { Outgoing } from '../log/log.ts';
import type { Home } from '../producers/home.ts';
import { createJoin } from '../streams/join/join.ts';
import { createBucketMetrics } from '../streams/metrics/bucket.ts';
import { createSessionMetrics } from '../streams/metrics/session.ts';
import { type Sample, SESSION, sampleSession } from './verify/testing.ts';

const GROUPS = ['join', 'metrics-session', 'metrics-bucket', 'sink'];

/**
 * Publishes the sample session, runs what derives and the sink until everything has landed, and stops.
 * @param more records that are published along with it
 */
export async function landSample(home: Home, more: readonly Outgoing[] = []): Promise<Sample> {
  const sample = sampleSession();
  mkdirSync(home.root, { recursive: true });
  writeFileSync(home.keyRing, JSON.stringify(sample.ring));
  const log = await openEmbeddedLog({ dir: home.log, partitions: 1, maintainEveryMs: null });
  const records: Outgoing[] = [
    ...sample.events.map((value) => ({ topic: 'trace.events', key: SESSION, value }) as const),
    ...sample.verdicts.map((value) => ({ topic: 'oracle.verdicts', key: SESSION, value }) as const),
    ...more,
  ];
  await log.publish(records);
  const running = [
    log.run(createJoin({ keyRing: sample.ring })),
    log.run(createSessionMetrics()),
    log.run(createBucketMetrics()),
  ];
  const sink = await startSink({ log, warehouse: home.warehouse, clock: Date.now, flushMs: 10 });
  for (;;) {
    const lag = await log.lag();
    const groups = new Set(lag.map(({ group }) => group));
    const begun = GROUPS.every((group) => groups.has(group));
    if (begun && lag.every(({ committed, end }) => committed >= end)) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await Promise.all(running.map((one) => one.stop()));
  await sink.flush();
  await sink.stop();
  await log.close();
  return sample;
}
