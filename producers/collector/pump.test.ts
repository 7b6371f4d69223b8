import { expect, test } from 'vitest';
import { FlipstreamError } from '../../schemas/errors.ts';
import { openDb } from './db.ts';
import { createOutbox } from './outbox.ts';
import { createPump } from './pump.ts';
import { temporaryHome } from './testing.ts';

test('when one stage has failed, stopping waits for the other, which is still at work', async () => {
  const { home, remove } = temporaryHome();
  const db = openDb(home.collectorDb);
  const publishing = Promise.withResolvers<boolean>();
  const pump = createPump({
    ...{ upkeep: () => {}, upkeepMs: 1, restMs: 1, scanMs: 1, retryMs: 1, maxRetryMs: 1, warn: () => {} },
    outbox: createOutbox(db),
    ingest: {
      all: () => Promise.reject(new FlipstreamError('log_damaged', 'fatal', 'it is damaged')),
      counters: { entries: 0, unreadable: 0 },
      done: new Set(),
    },
    publisher: { round: () => publishing.promise, published: 0 },
  });
  await expect(pump.done).rejects.toMatchObject({ code: 'log_damaged' });
  let stopped = false;
  const stopping = pump.stop().then(() => {
    stopped = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(stopped).toBe(false);
  publishing.resolve(false);
  await stopping;
  db.close();
  remove();
});
