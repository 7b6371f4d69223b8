import { z } from 'zod';
import { listRuns, readRun } from '../../oracle/private-log.ts';
import { listSignals } from '../../oracle/signals/store.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { type Cli, handle } from '../command.ts';
import { Count, refuseBeside } from '../flags.ts';
import { table } from '../table.ts';
import { addOracleCommand, withOracle } from './oracle-command.ts';

const COLUMNS = ['run_id', 'at', 'kind', 'task_id', 'code', 'reason', 'session_id'];

/** `flipstream oracle log show`: the oracle's private log. */
export function addOracleLog(cli: Cli, parent: Cli['program']): void {
  const log = parent.command('log').description('the oracle\u2019s private log');
  const show = addOracleCommand(log, 'show [run]', 'list the runs, or show everything about one')
    .option('--task <id>', 'only runs of this task')
    .option('--session <id>', 'only runs for this session')
    .option('--limit <n>', 'the newest n (default: 50)');
  const Flags = z.looseObject({
    task: z.string().optional(),
    session: z.string().optional(),
    limit: Count.optional(),
  });
  handle(cli, show, Flags, async (context, { task: task_id, session: session_id, limit }, [run]) => {
    if (run !== undefined)
      refuseBeside('A run', { '--task': task_id, '--session': session_id, '--limit': limit });
    await withOracle(context, (opened) => {
      if (run !== undefined) return context.out.raw(readRun(opened, run) ?? unknown(run));
      const rows = listRuns(opened, { task_id, session_id, limit });
      context.out.result(rows, () => (rows.length > 0 ? table(COLUMNS, rows) : 'No runs yet.'));
    });
  });
}

/** `flipstream oracle signals`: what soft oracles said beside the verdicts. */
export function addOracleSignals(cli: Cli, parent: Cli['program']): void {
  const command = addOracleCommand(parent, 'signals', 'list what soft oracles said, by verdict').option(
    '--task <id>',
    'only those of this task',
  );
  const columns = ['task_id', 'session_id', 'name', 'kind', 'passed', 'decides', 'verdict_id'];
  handle(cli, command, z.looseObject({ task: z.string().optional() }), async (context, { task }) =>
    withOracle(context, (opened) => {
      const rows = listSignals(opened.db, task);
      context.out.result(rows, () => (rows.length > 0 ? table(columns, rows) : 'No signals yet.'));
    }),
  );
}

function unknown(run: string): never {
  throw new FlipstreamError(
    'run_unknown',
    'usage',
    `There is no run ${run}; see: flipstream oracle log show`,
  );
}
