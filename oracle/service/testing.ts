/** A desk over a fake runner and a held clock, with the demo's task ready. */
import { pino } from 'pino';
import { onTestFinished, vi } from 'vitest';
import type { Outgoing } from '../../log/log.ts';
import type { Verdict } from '../../schemas/generated.ts';
import type { AnswerCode, GradeRequest } from '../../schemas/grade.ts';
import type { Oracle } from '../oracle.ts';
import { drainOutbox } from '../outbox.ts';
import { taskAdd } from '../tasks/add.ts';
import { taskCheck } from '../tasks/check.ts';
import {
  byContent,
  fakeRunner,
  fakeTimers,
  makeOracle,
  makeRepository,
  runResult,
  taskDirectory,
  testLog,
} from '../testing.ts';
import { type DeskOptions, openDesk } from './desk.ts';
import type { Principal } from './tokens.ts';

export const BUCKET = 1000;
export const HOST: Principal = { name: 'host', tasks: ['*'] };

interface Setup {
  judge?: typeof byContent;
  task?: Record<string, unknown>;
  desk?: Partial<DeskOptions>;
}

export async function setUpDesk({ judge = byContent, task = {}, desk = {} }: Setup = {}) {
  const timers = fakeTimers();
  const runner = fakeRunner((job) =>
    job.diff === null && runner.jobs.length <= 2 ? runResult(0, 1) : judge(job),
  );
  const oracle = makeOracle({ runner, clock: timers.now });
  await taskAdd(oracle, taskDirectory(makeRepository(), task));
  const { row } = await taskCheck(oracle, 'demo-split-bill');
  runner.jobs.length = 2;
  const log = testLog();
  const logger = pino({ level: 'silent' });
  const options: DeskOptions = {
    ...{ timers, logger, bucketMs: BUCKET, concurrency: 1, queueLimit: 100, maxDiffBytes: 10_000 },
    onRelease: () => {},
    ...desk,
  };
  const open = () => {
    const opened = openDesk(oracle, options);
    onTestFinished(() => opened.stop());
    return opened;
  };
  return { oracle, runner, timers, row, log, desk: open(), open, verdicts: () => published(oracle, log) };
}

/** Waits for a condition longer than a loaded machine takes. */
export const eventually = (check: () => void | Promise<void>) =>
  vi.waitFor(check, { timeout: 20_000, interval: 10 });

/** Asks, lets the runner finish, and moves the clock on until there is an answer. */
export async function answerOf(
  { desk, timers }: Pick<Awaited<ReturnType<typeof setUpDesk>>, 'desk' | 'timers'>,
  request: GradeRequest,
  principal = HOST,
): Promise<AnswerCode> {
  let code: AnswerCode | null = null;
  const asked = desk.ask(principal, request, 'same_host').then((answer) => {
    code = answer;
  });
  await eventually(async () => {
    await timers.advance(BUCKET);
    if (code === null) throw new Error('no answer yet');
  });
  await asked;
  return code ?? 'ERROR';
}

/** Verdicts published so far, with their keys. */
async function published(
  oracle: Oracle,
  log: ReturnType<typeof testLog>,
): Promise<{ key: string; value: Verdict }[]> {
  await drainOutbox(oracle.db, log);
  return log.records.filter(isVerdict);
}

function isVerdict(record: Outgoing): record is Outgoing<'oracle.verdicts'> {
  return record.topic === 'oracle.verdicts';
}
