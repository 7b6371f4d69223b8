/** A home in which one graded session has come all the way from the log to the warehouse. For tests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { startSink } from '../consumers/sink.ts';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import type { Outgoing } from '../log/log.ts';
import type { Home } from '../producers/home.ts';
import { createJoin } from '../streams/join/join.ts';
import { type Sample, SESSION, sampleSession } from './verify/testing.ts';

/** Publishes the sample session, runs the join and the sink until everything has landed, and stops. */
export async function landSample(home: Home): Promise<Sample> {
  const sample = sampleSession();
  mkdirSync(home.root, { recursive: true });
  writeFileSync(home.keyRing, JSON.stringify(sample.ring));
  const log = await openEmbeddedLog({ dir: home.log, partitions: 1, maintainEveryMs: null });
  const records: Outgoing[] = [
    ...sample.events.map((value) => ({ topic: 'trace.events', key: SESSION, value }) as const),
    ...sample.verdicts.map((value) => ({ topic: 'oracle.verdicts', key: SESSION, value }) as const),
  ];
  await log.publish(records);
  const join = log.run(createJoin({ keyRing: sample.ring }));
  const sink = await startSink({ log, warehouse: home.warehouse, clock: Date.now, flushMs: 10 });
  for (;;) {
    const lag = await log.lag();
    const groups = new Set(lag.map(({ group }) => group));
    if (groups.has('join') && groups.has('sink') && lag.every(({ committed, end }) => committed >= end))
      break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await join.stop();
  await sink.flush();
  await sink.stop();
  await log.close();
  return sample;
}
