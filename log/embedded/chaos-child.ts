/**
 * A process that the kill tests kill. `publisher <dir> <key>` numbers its records on from what the log holds
 * and tells each acknowledged number; `reducer <dir>` counts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { counter, event, upTo } from '../conformance/rig.ts';
import { partitionOf } from '../partition.ts';
import { CHAOS_LEASE_MS } from './chaos.ts';
import { type EmbeddedLog, openEmbeddedLog } from './open.ts';

const [role, dir = '', key = ''] = process.argv.slice(2);
const log = await openEmbeddedLog({ dir, leaseMs: CHAOS_LEASE_MS, maintainEveryMs: 300, warn: () => {} });

async function lastNumber(from: EmbeddedLog): Promise<number> {
  const partition = partitionOf(key, await from.partitions('trace.raw'));
  let last = 0;
  for (let at = 0; ; ) {
    const batch = await from.read('trace.raw', partition, at, 5000);
    for (const record of batch.records) if (record.key === key) last = record.value.seq;
    at = batch.nextOffset;
    if (at >= batch.end) return last;
  }
}

if (role === 'publisher') {
  let last = await lastNumber(log);
  process.stdout.write(`found ${last}\n`);
  for (;;) {
    const first = last;
    await log.publish(upTo(1 + (first % 13)).map((n) => event(key, first + n)));
    last += 1 + (first % 13);
    process.stdout.write(`acked ${last}\n`);
    await sleep(2);
  }
}
if (role === 'reducer') {
  log.run(counter('count'));
  process.stdout.write('running\n');
}
