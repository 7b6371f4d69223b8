/**
 * `trace.events` to Delta on the embedded log, the sink alone: events a second over the whole run, and resident
 * memory at each half million. `node bench/sink.ts [events]`, default 2,000,000.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSink } from '../consumers/sink.ts';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import { encode } from '../schemas/codec.ts';
import { query } from '../warehouse/query.ts';
import { madeEvents } from './support/sink-events.ts';

const EVENTS = Number(process.argv[2] ?? 2_000_000);
const SAMPLE_EVERY = 500_000;
const [, , , given, part] = process.argv;
const dir = given ?? mkdtempSync(join(tmpdir(), 'flipstream-bench-'));

if (part === 'fill') await fillLog();
else if (part === 'measure') await measure();
else {
  // Each in a process of its own: what filling leaves on the heap is not the sink's.
  for (const own of ['fill', 'measure']) {
    const args = [new URL(import.meta.url).pathname, String(EVENTS), dir, own];
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
    if (status !== 0) process.exitCode = 1;
  }
  rmSync(dir, { recursive: true, force: true });
}

async function fillLog(): Promise<void> {
  const log = await openEmbeddedLog({ dir: join(dir, 'log'), maintainEveryMs: null });
  const events = madeEvents();
  let bytes = 0;
  for (let sent = 0; sent < EVENTS; sent += 2000) {
    const batch = events(Math.min(2000, EVENTS - sent));
    if (sent === 0) for (const value of batch) bytes += encode('TraceEvent', value).length;
    await log.publish(batch.map((value) => ({ topic: 'trace.events', key: value.session_id, value })));
    if (sent === 0) console.log(`${EVENTS} events of ${Math.round(bytes / batch.length)} bytes (Avro)`);
  }
  await log.close();
}

async function measure(): Promise<void> {
  const log = await openEmbeddedLog({ dir: join(dir, 'log'), maintainEveryMs: null });
  const warehouse = join(dir, 'warehouse');
  const started = performance.now();
  const cpu = process.cpuUsage();
  const sink = await startSink({ log, warehouse, clock: Date.now });
  let next = SAMPLE_EVERY;
  for (let landed = 0; landed < EVENTS; ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await Promise.race([sink.done, null]);
    landed = sink.stats().tables.events?.rows ?? 0;
    for (; landed >= next; next += SAMPLE_EVERY) {
      console.log(`  ${next} landed: ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB resident`);
    }
  }
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `sink: ${Math.round(EVENTS / seconds)} events/s, ${((user + system) / EVENTS).toFixed(1)} us of CPU an event`,
  );
  await sink.stop();
  const { rows } = await query(warehouse, 'SELECT count(*), count(DISTINCT event_id) FROM events');
  console.log(`in the warehouse: ${rows[0]?.[0]} rows, ${rows[0]?.[1]} distinct`);
  await log.close();
}
