import { resolve } from 'node:path';
import { z } from 'zod';
import { exportKeyRing } from '../../oracle/keys/key.ts';
import { type Oracle, openOracle } from '../../oracle/oracle.ts';
import { listRuns, readRun } from '../../oracle/private-log.ts';
import { createToken, revokeTokens } from '../../oracle/service/tokens.ts';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import { type TaskRow, taskRows } from '../../oracle/tasks/store.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { addCommand, type Cli, type Context, handle, NoFlags, ORACLE_HOME_FLAG } from '../command.ts';
import { EXIT } from '../exit.ts';
import { withProgress } from '../progress.ts';
import { table } from '../table.ts';
import { runRole } from '../up/run-role.ts';

/** `flipstream oracle …`: run where the oracle's home is, by the person who operates it. */
export function addOracle(cli: Cli): void {
  const oracle = cli.program
    .command('oracle')
    .description('operate the oracle: tasks, tokens, its private log');
  addTasks(cli, oracle);
  const token = addOracleCommand(oracle, 'token <host>', 'make a token for an agent host; it is printed once')
    .option('--task <id...>', 'tasks it may ask for (default: all)')
    .option('--revoke', 'take back every token of this host instead');
  const TokenFlags = z.looseObject({
    task: z.array(z.string()).default(['*']),
    revoke: z.boolean().default(false),
  });
  handle(cli, token, TokenFlags, async (context, flags, [host = '']) =>
    withOracle(context, async (opened) => {
      if (flags.revoke) {
        const revoked = revokeTokens(opened, host);
        context.out.result({ host, revoked }, () => `${revoked} token(s) of ${host} no longer work.`);
      } else {
        const made = createToken(opened, host, flags.task);
        context.out.result({ host, token: made, tasks: flags.task }, () => made);
      }
    }),
  );
  const key = addOracleCommand(
    oracle,
    'key',
    'print the key ring with the oracle\u2019s public key; makes the key when there is none',
  );
  handle(cli, key, NoFlags, async (context) =>
    withOracle(context, async (opened) => {
      const ring = exportKeyRing(opened.home, opened.runner.kind);
      context.out.result(ring, () => JSON.stringify(ring, null, 2));
    }),
  );
  const serve = addOracleCommand(
    oracle,
    'serve',
    'run the oracle alone, publishing into the log of this home, until interrupted',
  ).option('--bucket-ms <ms>', 'answers leave on whole multiples of this (default: 5000)');
  const ServeFlags = z.looseObject({
    bucketMs: z.coerce
      .number('must be milliseconds')
      .int('must be whole milliseconds')
      .positive('must be above 0')
      .optional(),
  });
  handle(cli, serve, ServeFlags, async ({ config, io }, flags) =>
    runRole('oracle', { config, bucketMs: flags.bucketMs, signal: io.signal }),
  );
  addLog(cli, oracle);
}

function addTasks(cli: Cli, parent: Cli['program']): void {
  const task = parent.command('task').description('the oracle\u2019s tasks');
  const add = addOracleCommand(
    task,
    'add <dir>',
    'store the task whose task.json and hidden tests lie in dir',
  );
  handle(cli, add, NoFlags, async (context, _, [dir = '']) =>
    withOracle(context, async (opened) => {
      const row = await withProgress(context.io.stderr, 'Copying the repository', () =>
        taskAdd(opened, resolve(context.config.cwd, dir)),
      );
      context.out.result(
        row,
        () => `Task ${row.task_id} is stored. Next: flipstream oracle task check ${row.task_id}`,
      );
    }),
  );
  const check = addOracleCommand(
    task,
    'check <task>',
    'run the baseline twice: the suite must pass and the hidden tests fail',
  );
  handle(cli, check, NoFlags, async (context, _, [id = '']) => {
    const row = await withOracle(context, (opened) =>
      withProgress(context.io.stderr, `Running the baseline of ${id}`, () => taskCheck(opened, id)),
    );
    context.out.result(row, () => describe(row));
    return row.status === 'ready' ? EXIT.ok : EXIT.failed;
  });
  const list = addOracleCommand(task, 'list', 'list the tasks and whether they may be graded');
  handle(cli, list, NoFlags, async (context) =>
    withOracle(context, async (opened) => {
      const rows = taskRows(opened.db);
      const shown = rows.map((row) => ({
        task: row.task_id,
        status: row.status,
        checked: row.checked_at,
        reason: row.reason,
      }));
      context.out.result(rows, () =>
        rows.length > 0
          ? table(['task', 'status', 'checked', 'reason'], shown)
          : 'No tasks. Next: flipstream oracle task add <dir>',
      );
    }),
  );
}

function describe(row: TaskRow): string {
  return row.status === 'ready'
    ? `Task ${row.task_id} is ready: its baseline fails as it should.`
    : `Task ${row.task_id} is ${row.status}: ${row.reason ?? 'no reason recorded'}.`;
}

function addLog(cli: Cli, parent: Cli['program']): void {
  const log = parent.command('log').description('the oracle\u2019s private log');
  const show = addOracleCommand(log, 'show [run]', 'list the runs, or show everything about one')
    .option('--task <id>', 'only runs of this task')
    .option('--session <id>', 'only runs for this session')
    .option('--limit <n>', 'the newest n (default: 50)');
  const LogFlags = z.looseObject({
    task: z.string().optional(),
    session: z.string().optional(),
    limit: z.coerce.number().int().positive().optional(),
  });
  handle(cli, show, LogFlags, async (context, flags, [run]) =>
    withOracle(context, async (opened) => {
      if (run !== undefined) {
        showRun(context, opened, run);
        return;
      }
      const rows = listRuns(opened.db, {
        task_id: flags.task,
        session_id: flags.session,
        limit: flags.limit,
      });
      const columns = ['run_id', 'at', 'kind', 'task_id', 'code', 'reason', 'session_id'];
      context.out.result(rows, () => (rows.length > 0 ? table(columns, rows) : 'No runs yet.'));
    }),
  );
}

function showRun({ out }: Context, opened: Oracle, id: string): void {
  const text = readRun(opened.home, id);
  if (text === null)
    throw new FlipstreamError(
      'run_unknown',
      'usage',
      `There is no run ${id}; see: flipstream oracle log show`,
    );
  out.raw(text);
}

/** Commands of the oracle's side take its home instead of ours. */
function addOracleCommand(parent: Cli['program'], usage: string, description: string): Cli['program'] {
  return addCommand(parent, usage, description).option(...ORACLE_HOME_FLAG);
}

/** Opens the oracle's home for one command. */
async function withOracle<T>(context: Context, work: (oracle: Oracle) => Promise<T>): Promise<T> {
  const oracle = openOracle({ home: context.config.oracleHome, clock: context.io.clock });
  try {
    return await work(oracle);
  } finally {
    oracle.close();
  }
}
