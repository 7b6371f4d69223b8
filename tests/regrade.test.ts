/** A hidden test that was wrong: its flips are withdrawn by the oracle, and the tables say so. */
import { expect, onTestFinished, test } from 'vitest';
import { regrade } from '../oracle/regrade.ts';
import { byContent, runResult } from '../oracle/testing.ts';
import { T0 } from '../producers/collector/testing.ts';
import { createCapture, switched } from './support/capture.ts';
import { createGrading } from './support/grading.ts';
import { createPipeline } from './support/pipeline.ts';

test('regrade: what no longer passes is retracted in flips, its session is not usable, and every other flip stands', async () => {
  const grading = await createGrading();
  const pipeline = await createPipeline({ ring: grading.ring });
  onTestFinished(() => pipeline.close());
  pipeline.time.now = T0 + 60_000;
  const capture = createCapture(pipeline);
  onTestFinished(() => capture.stop());
  onTestFinished(() => grading.stop());
  await grading.start(switched(pipeline.log));
  await capture.start({ settings: grading.settings });
  pipeline.startStreams();
  await pipeline.startSink();
  for (const [id, diff] of [
    ['honest', 'good'],
    ['lucky', 'good luck'],
  ] as const) {
    grading.begin(pipeline.home, id);
    expect(await grading.wantsToStop(pipeline.home, id, diff)).toBe(false);
    grading.end(pipeline.home, id);
  }
  const landed = async () => {
    expect(await capture.drained()).toBe(true);
    await pipeline.settled();
    return pipeline.sql(
      `SELECT s.session_id, f.retracted, s.outcome, s.usable, s.marks FROM sessions s
       LEFT JOIN flips f ON f.session_id = s.session_id ORDER BY s.session_id DESC`,
    );
  };
  const patience = { timeout: 20_000 };
  const stands = { retracted: null, outcome: 'flipped', usable: true };
  await expect.poll(landed, patience).toMatchObject([
    { session_id: 'lucky', ...stands },
    { session_id: 'honest', ...stands },
  ]);

  grading.oracle.runner.run = async (job) => (job.diff?.includes('luck') ? runResult(0, 1) : byContent(job));
  const found = await regrade(grading.oracle, 'demo-split-bill');
  expect(found.map(({ session_id, retracted }) => [session_id, retracted])).toEqual([
    ['honest', false],
    ['lucky', true],
  ]);
  await expect.poll(landed, patience).toMatchObject([
    {
      ...{ session_id: 'lucky', retracted: 'retracted', outcome: 'ungraded', usable: false },
      marks: expect.arrayContaining(['retracted']),
    },
    { session_id: 'honest', ...stands },
  ]);
});
