/**
 * On the embedded log with join and sink in this process: from a verdict's publish to its flip at a consumer of
 * `flips`, and to its row in an SQL answer. `node bench/verdict-to-flip.ts [sessions]`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startSink } from '../consumers/sink.ts';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import { createJoin } from '../streams/join/join.ts';
import { createTestOracle } from '../streams/testing/oracle.ts';
import { recordsOf } from '../streams/testing/run.ts';
import { gradedSession } from '../streams/testing/session.ts';
import { openReader } from '../warehouse/query.ts';
import { percentiles } from './support/percentiles.ts';

const SESSIONS = Number(process.argv[2] ?? 100);
const dir = mkdtempSync(join(tmpdir(), 'flipstream-bench-'));
const warehouse = join(dir, 'warehouse');
const log = await openEmbeddedLog({ dir: join(dir, 'log'), maintainEveryMs: null });
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

const toConsumer: number[] = [];
const toSql: number[] = [];
for (let n = 0; n < SESSIONS; n++) {
  const sessionId = `session-${n}`;
  const session = recordsOf(gradedSession({ oracle, sessionId, answers: ['PASS'] }));
  const verdict = session.pop();
  if (!verdict) throw new Error('no verdict');
  await log.publish(session);
  // Any place of the sink's flush interval.
  await pause(Math.random() * 400);
  const flipped = new Promise<number>((resolve) => waiting.set(sessionId, () => resolve(performance.now())));
  const from = performance.now();
  await log.publish([verdict]);
  toConsumer.push((await flipped) - from);
  for (;;) {
    const { rows } = await reader.query(`SELECT 1 FROM flips WHERE session_id = '${sessionId}'`);
    if (rows.length > 0) break;
    await pause(2);
  }
  toSql.push(performance.now() - from);
}
console.log(`verdict published to flip at a consumer: ${percentiles(toConsumer)} (${SESSIONS} sessions)`);
console.log(`verdict published to flip in SQL: ${percentiles(toSql)}`);
reader.close();
await Promise.all([joining.stop(), watching.stop(), sink.stop()]);
await log.close();
rmSync(dir, { recursive: true, force: true });
