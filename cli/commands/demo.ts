import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pino from 'pino';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import { readSettings } from '../../producers/settings.ts';
import { taskStart } from '../../producers/task-start.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import { type Answer, query } from '../../warehouse/query.ts';
import type { Value } from '../../warehouse/values.ts';
import { addCommand, type Cli, type Context, handle, type Io, NoFlags } from '../command.ts';
import { createHarness, type Harness, type Step } from '../demo/harness.ts';
import { firstAttempt, PROMPT, secondAttempt } from '../demo/script.ts';
import { layOut, type Workspace } from '../demo/workspace.ts';
import { prepare } from '../init/prepare.ts';
import { unlessStopped } from '../stop.ts';
import { table } from '../table.ts';
import { ROLES } from '../up/roles.ts';
import { supervise } from '../up/supervise.ts';
import { withOracle } from './oracle-command.ts';
import { partOf } from './up.ts';

const BUCKET_MS = 500;
const PATIENCE_MS = 30_000;
const QUESTION = `SELECT s.task_id, s.outcome, f.attempt AS flipped_at_attempt, s.tool_calls, s.messages, f.runner, f.evidence
FROM flips f JOIN sessions s USING (session_id) WHERE f.retracted IS NULL`;

/** `flipstream demo`: a graded session from start to flip on this machine, in a folder of its own. */
export function addDemo(cli: Cli): void {
  const command = addCommand(
    cli.program,
    'demo',
    'run a graded session from start to flip, with everything real but the model\u2019s words',
  );
  handle(cli, command, NoFlags, runDemo, { stopsItself: true });
}

async function runDemo(context: Context): Promise<void> {
  const { config, io, out } = context;
  const say = (line: string) => out.note(line);
  const began = performance.now();
  const place = layOut(config);
  const { home } = place.config;
  const env = { ...io.env, FLIPSTREAM_HOME: home.root };

  say('1. A repository with a bug, an oracle with a hidden test, keys and tokens.');
  const { settings } = await prepare(place.config, {
    startsCollector: false,
    transport: 'command',
    rotate: false,
    oracle: null,
    port: 0,
  });
  await checkTask(place, io);
  say(
    '   The oracle runs suite and hidden test, twice each: FAIL on the base and PASS with the fix, as it should be.',
  );

  const logs = join(place.root, 'logs');
  makeFolder(logs, 0o777);
  const logFile = join(logs, 'up.log');
  const parts = ROLES.map((role) =>
    partOf(role, home.root, place.config.oracleHome.root, { bucketMs: BUCKET_MS }),
  );
  const supervisor = supervise(
    parts,
    env,
    pino({ name: 'up' }, pino.destination({ dest: logFile, sync: true })),
    openSync(logFile, 'a'),
  );
  try {
    await soon(supervisor.ready, io.signal, `the parts did not start; see ${logFile}`);
    say(`2. ${ROLES.join(', ')} run, each a process of its own.`);
    const oracle = settings.oracle ?? readSettings(home).oracle;
    if (!oracle) throw new FlipstreamError('no_oracle', 'fatal', `${home.config} names no oracle.`);
    await taskStart({
      taskId: 'demo-split-bill',
      directory: place.clone,
      oracle,
      home,
      clock: io.clock,
      path: io.env.PATH,
      signal: io.signal,
    });
    say(`3. task start: a clone for the agent, with the base commit and nothing newer: ${place.clone}`);
    const harness = createHarness(home, place.clone, env);
    await unlessStopped(io.signal, () => session(harness, place.clone, say));
    const answer = await flipOf(place, harness.sessionId, io.signal);
    const seconds = Math.ceil((performance.now() - began) / 1000);
    say(`5. The flip is in the warehouse, ${seconds} s after the start.\n`);
    say(
      'Real: the hook, collector, gate, oracle, log, streams, sink, the tools and the tests. Scripted: the model\u2019s words.',
    );
    await supervisor.stop();
    out.result(
      { sql: QUESTION, rows: records(answer), home: home.root, files: place.root },
      () =>
        `> ${QUESTION}\n${table(
          answer.columns.map((column) => column.name),
          records(answer),
        )}\nFiles: ${place.root} (traces/, log/ and warehouse/ under home/). Nothing is left running.
Ask more: flipstream sql --home ${home.root} (in a checkout, npm link first)`,
    );
  } finally {
    await supervisor.stop();
  }
}

async function checkTask({ config, task }: Workspace, io: Io): Promise<void> {
  await withOracle({ config, io }, async (oracle) => {
    const { task_id } = await taskAdd(oracle, task);
    const { status, reason } = (await taskCheck(oracle, task_id)).row;
    if (status !== 'ready')
      throw new FlipstreamError('demo_task', 'fatal', `The demo's own task is ${status}: ${reason}.`);
  });
}

async function session(harness: Harness, clone: string, say: (line: string) => void): Promise<void> {
  say('4. A session:');
  await harness.start('scripted-model');
  await harness.prompt(PROMPT);
  say(`   user   ${PROMPT}`);
  await attempt(harness, firstAttempt(clone), say);
  const reason = await harness.stop('The rest goes to the first person now, and every test passes.');
  if (reason === null) throw new FlipstreamError('demo_gate', 'fatal', 'The gate let a wrong fix through.');
  say(`   oracle FAIL; the gate holds the agent with its one sentence:\n          "${reason}"`);
  await attempt(harness, secondAttempt(clone), say);
  if ((await harness.stop('The rest is spread, one cent each.')) !== null)
    throw new FlipstreamError('demo_gate', 'fatal', 'The gate held the right fix.');
  say('   oracle PASS; the agent may stop.');
  await harness.end();
}

async function attempt(harness: Harness, steps: Step[], say: (line: string) => void): Promise<void> {
  for (const step of steps) {
    say(`   agent  ${step.says}  [${step.calls.map((call) => call.name).join(', ')}]`);
    await harness.step(step);
  }
}

/** Asks until the flip is there and the session has ended. */
async function flipOf(place: Workspace, sessionId: string, signal: AbortSignal): Promise<Answer> {
  const sql = `${QUESTION} AND s.ended AND s.session_id = '${sessionId}'`;
  for (
    const until = performance.now() + PATIENCE_MS;
    performance.now() < until;
    await pause(100, undefined, { signal })
  ) {
    const answer = await query(place.config.home.warehouse, sql);
    if (answer.rows.length > 0) return answer;
  }
  throw new FlipstreamError(
    'demo_flip',
    'fatal',
    `No flip within ${PATIENCE_MS / 1000} s; see ${join(place.root, 'logs')} and flipstream doctor --home ${place.config.home.root}.`,
  );
}

function records(answer: Answer): Record<string, Value>[] {
  return answer.rows.map((row) =>
    Object.fromEntries(answer.columns.map((column, at) => [column.name, row[at] ?? null])),
  );
}

async function soon<T>(work: Promise<T>, signal: AbortSignal, otherwise: string): Promise<T> {
  const done = new AbortController();
  const late = pause(PATIENCE_MS, undefined, { signal: AbortSignal.any([signal, done.signal]) }).then(() => {
    throw new FlipstreamError('demo_start', 'fatal', `Within ${PATIENCE_MS / 1000} s ${otherwise}.`);
  });
  late.catch(() => {}); // after the race nobody waits for it
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort(); // a timer that goes on would keep the process for half a minute
  }
}
