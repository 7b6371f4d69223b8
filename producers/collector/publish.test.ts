import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Home } from '../home.ts';
import { openDb } from './db.ts';
import { createOutbox } from './outbox.ts';
import { createPublisher } from './publish.ts';
import { createStore } from './store.ts';
import { memoryLog, temporaryHome } from './testing.ts';
import { openTraceFiles } from './trace-files.ts';

let home: Home;
let remove: () => void;
beforeEach(() => {
  ({ home, remove } = temporaryHome());
});
afterEach(() => remove());

test('spool files that made no event are taken away once, those that come after others too', async () => {
  const db = openDb(home.collectorDb);
  const outbox = createOutbox(db);
  const removed: string[][] = [];
  const publisher = createPublisher({
    ...{ store: createStore(db), outbox, traces: openTraceFiles(home), log: memoryLog(), warn: () => {} },
    spool: { remove: (names) => void removed.push([...names]) },
    ingest: { done: new Set() },
  });
  for (const name of ['a', 'b', 'c']) {
    outbox.putEntry(name, 's');
    for (let round = 0; round < 2; round++) await publisher.round();
  }
  expect(removed).toEqual([['a'], ['b'], ['c']]);
  db.close();
});
