import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log/log.ts';
import type { Flip } from '../schemas/generated.ts';

const POLL_MS = 250;

/** Flips that are published from now on, until the signal; once each, and once more when it is taken back. */
export async function* followFlips(log: Log, signal: AbortSignal): AsyncGenerator<Flip> {
  const partitions = await log.partitions('flips');
  const next: number[] = [];
  const told = new Set<string>();
  for (let p = 0; p < partitions; p += 1) next.push((await log.read('flips', p, 0, 1)).end);
  while (!signal.aborted) {
    let found = 0;
    for (const [p, offset] of next.entries()) {
      const batch = await log.read('flips', p, offset, 100);
      next[p] = Math.max(offset, batch.nextOffset);
      found += batch.records.length;
      for (const { value } of batch.records) {
        // Published anew at each revision of its session.
        const what = JSON.stringify([value.session_id, value.task_id, value.attempt, value.retracted]);
        if (told.has(what)) continue;
        told.add(what);
        yield value;
      }
    }
    if (found === 0) await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
}
