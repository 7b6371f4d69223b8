/** Runs the streams and the sink over a log until everything in it has been derived and has landed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startSink } from '../../consumers/sink.ts';
import type { Log } from '../../log/log.ts';
import type { Home } from '../../producers/home.ts';
import type { KeyRing } from '../../schemas/signature.ts';
import type { Clock } from '../../schemas/time.ts';
import { createJoin } from '../../streams/join/join.ts';
import { createBucketMetrics } from '../../streams/metrics/bucket.ts';
import { createSessionMetrics } from '../../streams/metrics/session.ts';

const LOOK_MS = 20;

interface Derivation {
  home: Home;
  log: Log;
  keyRing: KeyRing;
  clock: Clock;
  signal: AbortSignal;
}

/** Everything after `redact`: that has already said what may be in `trace.events`. @throws on abort, too */
export async function deriveAll(
  { home, log, keyRing, clock, signal }: Derivation,
  onProgress: (behind: number) => void,
): Promise<void> {
  const join = createJoin({ keyRing });
  const bySession = createSessionMetrics();
  const byBucket = createBucketMetrics();
  // Before the others: while nobody waits for them, nobody hears that one has failed.
  const sink = await startSink({ log, warehouse: home.warehouse, clock });
  const parts = [log.run(join), log.run(bySession), log.run(byBucket), sink];
  const failed = Promise.race(parts.map((part) => part.done.then(() => 'ended' as const)));
  try {
    const groups = [join.group, bySession.group, byBucket.group, 'sink'];
    // Outputs and offsets are committed together: when nobody is behind, nothing is on its way either.
    for (let behind = 1; behind > 0; ) {
      const look = await Promise.race([failed, sleep(LOOK_MS, 'look' as const, { signal })]);
      if (look === 'ended') break;
      const lag = await log.lag();
      const begun = groups.every((group) => lag.some((each) => each.group === group));
      behind = begun ? lag.reduce((sum, each) => sum + Math.max(0, each.end - each.committed), 0) : 1;
      onProgress(behind);
    }
    await sink.flush();
  } finally {
    await Promise.all(parts.map((part) => part.stop()));
  }
}
