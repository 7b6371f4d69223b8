import { expect, test } from 'vitest';
import type { Task } from '../schemas/generated.ts';
import { drainOutbox, queueTask } from './outbox.ts';
import { fakeRunner, makeOracle, testLog } from './testing.ts';

const task = (task_id: string): Task => ({
  ...{ task_id, root_commit: 'r', base_commit: 'b', tests_hash: 't', status: 'ready', split: 'train' },
  ...{ image: null, family: null, reason: null, checked_at: null },
  ...{ runner: null, evidence: null, framework: null },
  ...{ reference_passed: null, suite_excluded: null, accepted: null },
});

test('everything that waits is published in order, in several batches, and forgotten only then', async () => {
  const { db } = makeOracle({ runner: fakeRunner() });
  const names = Array.from({ length: 1201 }, (_, at) => `task-${at}`);
  db.transaction(() => {
    for (const name of names) queueTask(db, task(name));
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
    queueTask(db, task('x'));
    throw new Error('no');
  };
  expect(() => db.transaction(work)).toThrow('no');
  const log = testLog();
  await drainOutbox(db, log);
  expect(log.records).toEqual([]);
});
