/** P1 at a Stop: the oracle, or the log behind it, is away or slow. No label is made up, and none is lost. */
import { expect, onTestFinished, test } from 'vitest';
import { T0 } from '../producers/collector/testing.ts';
import { createCapture, switched } from './support/capture.ts';
import { createGrading } from './support/grading.ts';
import { createPipeline } from './support/pipeline.ts';

const HOUR = 3_600_000;

async function setUp() {
  const grading = await createGrading();
  const pipeline = await createPipeline({ ring: grading.ring });
  onTestFinished(() => pipeline.close());
  pipeline.time.now = T0 + 60_000;
  const capture = createCapture(pipeline);
  onTestFinished(() => capture.stop());
  onTestFinished(() => grading.stop());
  await capture.start({ settings: grading.settings });
  pipeline.startStreams();
  await pipeline.startSink();
  const { home, sql } = pipeline;
  return {
    ...{ grading, pipeline, capture },
    /** From the oracle to the log. */
    way: switched(pipeline.log),
    begin: (id: string) => grading.begin(home, id),
    stops: (id: string, diff: string, deadlineMs?: number) => grading.wantsToStop(home, id, diff, deadlineMs),
    end: (id: string) => grading.end(home, id),
    landed: async () => {
      expect(await capture.drained()).toBe(true);
      await pipeline.settled();
    },
    session: async (id: string) => (await sql(`SELECT * FROM sessions WHERE session_id = '${id}'`))[0],
    claims: async (id: string) =>
      (
        await sql(
          `SELECT verdict FROM events WHERE session_id = '${id}' AND type = 'oracle_verdict' ORDER BY seq`,
        )
      ).map(({ verdict }) => verdict),
    asked: async (id: string) =>
      (
        await sql(`SELECT request_id FROM events WHERE session_id = '${id}' AND kind = 'grade_requested'`)
      ).map(({ request_id }) => request_id),
    graded: (id: string) =>
      sql(`SELECT verdict, attempt, request_id FROM verdicts WHERE session_id = '${id}' AND mode = 'grade'`),
    flips: (id: string) => sql(`SELECT attempt, retracted FROM flips WHERE session_id = '${id}'`),
  };
}

test('P1 the oracle is down at every Stop: two ERRORs hold, the third allows; oracle_error, never FAIL, never a flip', async () => {
  const { begin, stops, end, landed, session, claims, graded, flips, pipeline } = await setUp();
  begin('down');
  expect(await stops('down', 'good 1')).toBe(true);
  pipeline.time.now += HOUR;
  expect(await stops('down', 'good 2')).toBe(true);
  pipeline.time.now += HOUR;
  expect(await stops('down', 'good 3')).toBe(false);
  end('down');
  await landed();
  expect(await claims('down')).toEqual(['ERROR', 'ERROR', 'ERROR']);
  expect(await session('down')).toMatchObject({ outcome: 'oracle_error', attempts: 0, ended: true });
  expect(await graded('down')).toEqual([]);
  expect(await flips('down')).toEqual([]);
  await pipeline.unbroken('down');
});

test('P1 the oracle comes back: the same diff is the same request, graded once, and a flip', async () => {
  const { grading, way, begin, stops, end, landed, claims, asked, graded, flips, session } = await setUp();
  begin('back');
  expect(await stops('back', 'good')).toBe(true);
  await grading.start(way);
  expect(await stops('back', 'good')).toBe(false);
  end('back');
  await landed();
  const requests = await asked('back');
  expect(requests).toHaveLength(1);
  expect(await claims('back')).toEqual(['ERROR', 'PASS']);
  await expect
    .poll(() => graded('back'), { timeout: 10_000 })
    .toEqual([{ verdict: 'PASS', attempt: 1, request_id: requests[0] }]);
  await landed();
  expect(await flips('back')).toEqual([{ attempt: 1, retracted: null }]);
  expect(await session('back')).toMatchObject({ outcome: 'flipped', attempts: 1 });
});

test('P1 the oracle is slower than the gate may wait: PENDING holds and uses no attempt; the answer comes once', async () => {
  const { grading, way, begin, stops, end, landed, claims, asked, graded, flips } = await setUp();
  await grading.start(way);
  begin('slow');
  const { promise, resolve } = Promise.withResolvers<void>();
  grading.hold.until = promise;
  expect(await stops('slow', 'good', 500)).toBe(true);
  expect(await stops('slow', 'good', 500)).toBe(true);
  resolve();
  expect(await stops('slow', 'good')).toBe(false);
  end('slow');
  await landed();
  expect(await claims('slow')).toEqual(['PENDING', 'PENDING', 'PASS']);
  expect(await asked('slow')).toHaveLength(1);
  await expect.poll(() => graded('slow'), { timeout: 10_000 }).toHaveLength(1);
  await landed();
  expect(await flips('slow')).toEqual([{ attempt: 1, retracted: null }]);
});

test('P1 the oracle is stopped while it grades: what it had taken on is graded by the next one, once', async () => {
  const { grading, way, begin, stops, end, landed, graded, flips, asked } = await setUp();
  await grading.start(way);
  begin('cut');
  grading.hold.until = new Promise(() => {});
  expect(await stops('cut', 'good', 500)).toBe(true);
  await grading.stop();
  grading.hold.until = Promise.resolve();
  await grading.start(way);
  expect(await stops('cut', 'good')).toBe(false);
  end('cut');
  await landed();
  await expect.poll(() => graded('cut'), { timeout: 10_000 }).toHaveLength(1);
  await landed();
  expect(await asked('cut')).toHaveLength(1);
  expect(await flips('cut')).toEqual([{ attempt: 1, retracted: null }]);
});

test('P1 the log is down when the verdict is signed: the agent is answered, the verdict waits in the outbox and comes once', async () => {
  const { grading, way, begin, stops, end, landed, graded, flips, session, pipeline } = await setUp();
  await grading.start(way);
  begin('late');
  way.down = true;
  expect(await stops('late', 'bad')).toBe(true);
  expect(await stops('late', 'good')).toBe(false);
  end('late');
  await landed();
  expect(await graded('late')).toEqual([]);
  expect(await flips('late')).toEqual([]);
  // A claim is no verdict.
  expect(await session('late')).toMatchObject({ outcome: 'ungraded' });
  expect((await session('late'))?.marks).toContain('unconfirmed');
  await grading.stop();
  pipeline.time.now += 9 * HOUR;
  way.down = false;
  await grading.start(way);
  await expect.poll(() => graded('late'), { timeout: 10_000 }).toHaveLength(2);
  await landed();
  expect(await flips('late')).toEqual([{ attempt: 2, retracted: null }]);
  expect(await session('late')).toMatchObject({ outcome: 'flipped', attempts: 2 });
  expect((await session('late'))?.marks).not.toContain('unconfirmed');
});
