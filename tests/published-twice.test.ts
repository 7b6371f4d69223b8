/** An oracle killed between publishing and noting that it has published: its records come again, and count once. */
import { spawnSync } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import { queueTask, queueVerdict } from '../oracle/outbox.ts';
import { makeOracle } from '../oracle/testing.ts';
import { blankTask } from '../schemas/testing.ts';
import type { TopicName } from '../schemas/topics.ts';
import { createTestOracle } from '../streams/testing/oracle.ts';
import { gradedSession } from '../streams/testing/session.ts';
import { createPipeline } from './support/pipeline.ts';

const CHILD = new URL('support/publish-outbox.ts', import.meta.url).pathname;

test('P3 killed there, the oracle publishes the same records again; the warehouse has each verdict, flip and task once', async () => {
  const signer = createTestOracle();
  const { sessionId, events, verdicts } = gradedSession({
    oracle: signer,
    sessionId: 's1',
    answers: ['FAIL', 'PASS'],
  });
  const { db, home } = makeOracle();
  db.transaction(() => {
    for (const verdict of verdicts) queueVerdict(db, sessionId, verdict, 'host');
    queueTask(db, blankTask('task-1'));
  });
  const pipeline = await createPipeline({ ring: signer.ring });
  onTestFinished(() => pipeline.close());
  await pipeline.log.publish(events.map((value) => ({ topic: 'trace.raw', key: sessionId, value })));
  const publish = (...how: string[]) => {
    const args = [CHILD, home.root, pipeline.home.log, ...how];
    return spawnSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  };
  const inTopic = async <T extends TopicName>(topic: T) => {
    const partitions = Array.from({ length: await pipeline.log.partitions(topic) }, (_, at) => at);
    const read = await Promise.all(partitions.map((at) => pipeline.log.read(topic, at, 0, 1000)));
    return read.flatMap(({ records }) => records.map(({ value }) => value));
  };

  pipeline.startStreams();
  await pipeline.startSink();
  expect(publish('die').signal).toBe('SIGKILL');
  await pipeline.settled();
  expect(await inTopic('oracle.verdicts')).toEqual(verdicts);
  expect(publish().status).toBe(0);
  expect(publish().status).toBe(0);
  await pipeline.settled();

  // In the log they are there again, the same to the last field, and once: the third process had nothing to publish.
  expect(await inTopic('oracle.verdicts')).toEqual([...verdicts, ...verdicts]);
  expect(await inTopic('tasks')).toHaveLength(2);
  const rows = await pipeline.sql('SELECT verdict_id FROM verdicts');
  expect(rows.map(({ verdict_id }) => verdict_id).sort()).toEqual(
    verdicts.map((one) => one.verdict_id).sort(),
  );
  expect(await pipeline.sql('SELECT attempt FROM flips')).toEqual([{ attempt: 2 }]);
  expect(await pipeline.sql('SELECT task_id FROM tasks')).toEqual([{ task_id: 'task-1' }]);
  expect(await pipeline.sql('SELECT outcome, attempts, usable, marks FROM sessions')).toEqual([
    { outcome: 'flipped', attempts: 2, usable: true, marks: [] },
  ]);
});
