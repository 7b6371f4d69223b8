/** From an event's publish to its row in an SQL answer, on a quiet log: p50 and p99. `node bench/sink-latency.ts [events]` */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSink } from '../consumers/sink.ts';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import { openReader } from '../warehouse/query.ts';
import { percentiles } from './support/percentiles.ts';
import { madeEvents } from './support/sink-events.ts';

const EVENTS = Number(process.argv[2] ?? 200);
const dir = mkdtempSync(join(tmpdir(), 'flipstream-latency-'));
const log = await openEmbeddedLog({ dir: join(dir, 'log'), maintainEveryMs: null });
const warehouse = join(dir, 'warehouse');
const sink = await startSink({ log, warehouse, clock: Date.now });
const reader = await openReader(warehouse);
const make = madeEvents();

/** One event after a pause of 0 to 400 ms, so that it meets the sink at any point of its flush interval. */
async function once(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
  const [value] = make(1);
  if (!value) throw new Error('no event');
  const started = performance.now();
  await log.publish([{ topic: 'trace.events', key: value.session_id, value }]);
  for (;;) {
    const { rows } = await reader.query(`SELECT 1 FROM events WHERE event_id = '${value.event_id}'`);
    if (rows.length > 0) return performance.now() - started;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const took: number[] = [];
for (let i = 0; i < EVENTS; i++) took.push(await once());
console.log(`published to visible in SQL: ${percentiles(took)} (${EVENTS} events, one at a time)`);
reader.close();
await sink.stop();
await log.close();
rmSync(dir, { recursive: true, force: true });
