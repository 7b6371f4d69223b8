import { expect, test } from 'vitest';
import { blankTask } from '../schemas/testing.ts';
import { drainOutbox, queueTask } from './outbox.ts';
import { fakeRunner, makeOracle, testLog } from './testing.ts';

test('everything that waits is published in order, in several batches, and forgotten only then', async () => {
  const { db } = makeOracle({ runner: fakeRunner() });
  const names = Array.from({ length: 1201 }, (_, at) => `task-${at}`);
  db.transaction(() => {
    for (const name of names) queueTask(db, blankTask(name));
  });
  const log = testLog();
  log.down = true;
  await expect(drainOutbox(db, log)).rejects.toThrow();
  log.down = false;
  await drainOutbox(db, log);
  await drainOutbox(db, log);
  expect(log.records.map(({ key }) => key)).toEqual(names);
});

test('a transaction that throws leaves nothing behind', async () => {
  const { db } = makeOracle({ runner: fakeRunner() });
  const work = () => {
    queueTask(db, blankTask('x'));
    throw new Error('no');
  };
  expect(() => db.transaction(work)).toThrow('no');
  const log = testLog();
  await drainOutbox(db, log);
  expect(log.records).toEqual([]);
});
