import type { Log, Running } from '../../log/log.ts';
import type { KeyRing } from '../../schemas/signature.ts';
import { createJoin } from '../../streams/join/join.ts';
import { createBucketMetrics } from '../../streams/metrics/bucket.ts';
import { createSessionMetrics } from '../../streams/metrics/session.ts';
import { createRedact } from '../../streams/redact/redact.ts';

/** Hands every reducer to the log to run. */
export function createReducers(log: Log, keyRing: KeyRing): Running[] {
  return [
    log.run(createRedact()),
    log.run(createJoin({ keyRing })),
    log.run(createSessionMetrics()),
    log.run(createBucketMetrics()),
  ];
}
