import { setTimeout as pause } from 'node:timers/promises';
import { startSink } from '../../consumers/sink.ts';
import type { Log } from '../../log/log.ts';
import { createJoin } from '../../streams/join/join.ts';
import { createTestOracle } from '../../streams/testing/oracle.ts';
import { recordsOf } from '../../streams/testing/run.ts';
import { gradedSession } from '../../streams/testing/session.ts';
import { openReader } from '../../warehouse/query.ts';

export interface FlipLatency {
  /** From a verdict's publish to its flip at a consumer of `flips`, milliseconds each. */
  toConsumer: number[];
  /** And to its row in an SQL answer. */
  toSql: number[];
}

/** With join and sink in this process, one session after another. */
export async function measureFlips(log: Log, warehouse: string, sessions: number): Promise<FlipLatency> {
  const oracle = createTestOracle();
  const joining = log.run(createJoin({ keyRing: oracle.ring }));
  const sink = await startSink({ log, warehouse, clock: Date.now });
  const reader = await openReader(warehouse);
  const waiting = new Map<string, () => void>();
  const watching = log.consume({
    group: 'watch',
    topics: ['flips'],
    onBatch: async ({ records }) => {
      for (const { value } of records) waiting.get(value.session_id)?.();
    },
  });
  const took: FlipLatency = { toConsumer: [], toSql: [] };
  for (let n = 0; n < sessions; n++) {
    const sessionId = `session-${n}`;
    const session = recordsOf(gradedSession({ oracle, sessionId, answers: ['PASS'] }));
    const verdict = session.pop();
    if (!verdict) throw new Error('no verdict');
    await log.publish(session);
    // Any place of the sink's flush interval.
    await pause(Math.random() * 400);
    const flipped = new Promise<number>((resolve) =>
      waiting.set(sessionId, () => resolve(performance.now())),
    );
    const from = performance.now();
    await log.publish([verdict]);
    took.toConsumer.push((await flipped) - from);
    for (;;) {
      const { rows } = await reader.query(`SELECT 1 FROM flips WHERE session_id = '${sessionId}'`);
      if (rows.length > 0) break;
      await pause(2);
    }
    took.toSql.push(performance.now() - from);
  }
  reader.close();
  await Promise.all([joining.stop(), watching.stop(), sink.stop()]);
  return took;
}
