import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EmbeddedLog } from '../log/embedded/open.ts';
import type { LogCounters, PartitionLag } from '../log/log.ts';
import { createFigures } from './figures.ts';
import { newPlace, openLog, type Place } from './sink/testing.ts';

let place: Place;
let log: EmbeddedLog;
beforeEach(async () => {
  place = newPlace();
  log = await openLog(place);
});
afterEach(async () => {
  await log.close();
  place.remove();
});

/** No two alike, so that none can stand for another. */
const COUNTED: LogCounters = {
  published: { 'trace.events': 101, deadletter: 102 },
  consumed: { 'trace.raw': 103 },
  bytesPublished: { 'trace.events': 104, deadletter: 105 },
  bytesConsumed: { 'trace.raw': 106 },
  deadLetters: 107,
  transactionFailures: 108,
  fenced: 109,
};
const LAG: PartitionLag[] = [
  { group: 'redact', topic: 'trace.raw', partition: 0, committed: 7, end: 18 },
  { group: 'redact', topic: 'trace.raw', partition: 1, committed: 20, end: 32 },
  { group: 'join', topic: 'oracle.verdicts', partition: 0, committed: 40, end: 40 },
];

test('each figure tells of what its name says', async () => {
  const text = await createFigures({
    part: 'streams',
    log: { ...log, counters: () => COUNTED, lag: async () => LAG },
  }).text();
  const lines = text.split('\n').filter((line) => /^flipstream_.*\d$/.test(line));
  expect(lines.sort()).toEqual([
    'flipstream_consumed_bytes_total{topic="trace.raw",part="streams"} 106',
    'flipstream_consumed_total{topic="trace.raw",part="streams"} 103',
    'flipstream_dead_letters_total{part="streams"} 107',
    'flipstream_fenced_total{part="streams"} 109',
    'flipstream_lag_records{group="join",topic="oracle.verdicts",partition="0",part="streams"} 0',
    'flipstream_lag_records{group="redact",topic="trace.raw",partition="0",part="streams"} 11',
    'flipstream_lag_records{group="redact",topic="trace.raw",partition="1",part="streams"} 12',
    'flipstream_published_bytes_total{topic="deadletter",part="streams"} 105',
    'flipstream_published_bytes_total{topic="trace.events",part="streams"} 104',
    'flipstream_published_total{topic="deadletter",part="streams"} 102',
    'flipstream_published_total{topic="trace.events",part="streams"} 101',
    'flipstream_transaction_failures_total{part="streams"} 108',
    'flipstream_up{part="streams"} 1',
  ]);
});
