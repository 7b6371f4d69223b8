import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { listRuns } from '../private-log.ts';
import { processRunner } from '../runner/process.ts';
import type { Runner } from '../runner/runner.ts';
import { taskAdd } from '../tasks/add.ts';
import { taskCheck } from '../tasks/check.ts';
import { mirrorOf } from '../tasks/store.ts';
import {
  fakeTimers,
  gradeRequest,
  makeOracle,
  makeRepository,
  taskDirectory,
  temporaryDirectory,
} from '../testing.ts';
import { openDesk } from './desk.ts';
import { answerOf, BUCKET } from './testing.ts';

const edit = (word: string) =>
  `diff --git a/src/run.sh b/src/run.sh\n--- a/src/run.sh\n+++ b/src/run.sh\n@@ -1 +1 @@\n-echo todo\n+${word}\n`;

test('O5 on the real runner: a missing program, a lost mirror are ERROR; the same from graded code is FAIL', async () => {
  const prefix = join(temporaryDirectory(), 'run-');
  const well = processRunner({ prefix });
  const ill = processRunner({ prefix, path: '/nowhere' });
  let current = well;
  const runner: Runner = { ...well, run: (job) => current.run(job) };
  const timers = fakeTimers();
  const oracle = makeOracle({ runner, clock: timers.now });
  const source = makeRepository({ 'src/run.sh': 'echo todo\n', 'keep.txt': 'kept\n' });
  const commands = {
    suite: 'grep -q kept keep.txt',
    hidden: ['sh src/run.sh | grep -q done'],
    timeout_s: 20,
  };
  await taskAdd(oracle, taskDirectory(source, { ...commands, max_attempts: 20 }, { 'h.txt': 'h' }));
  const { row } = await taskCheck(oracle, 'demo-split-bill');
  expect(row.reason).toBeNull();
  const desk = openDesk(oracle, {
    ...{ timers, bucketMs: BUCKET, concurrency: 1, queueLimit: 9, maxDiffBytes: 10_000 },
    logger: pino({ level: 'silent' }),
    onRelease: () => {},
  });
  onTestFinished(() => desk.stop());
  const ask = (word: string) => answerOf({ desk, timers }, gradeRequest(row, edit(word)));

  current = ill;
  expect(await ask('echo done')).toBe('ERROR');
  current = well;
  expect(await ask('echo done')).toBe('PASS');
  const mirror = mirrorOf(oracle.home, row.task_id);
  renameSync(mirror, `${mirror}.away`);
  expect(await ask('echo  done')).toBe('ERROR');
  renameSync(`${mirror}.away`, mirror);
  expect(await ask('echo  done')).toBe('PASS');
  expect(await ask('no-such-program')).toBe('FAIL');
  expect(await ask('kill -9 $PPID')).toBe('FAIL');
  const kinds = listRuns(oracle, { session_id: 'session' }).map(({ kind, code }) => `${kind} ${code}`);
  expect(kinds).toContain('control FAIL');
  expect(kinds.at(-1)).toBe('grade FAIL');
});
