import { z } from 'zod';
import { OUTCOMES } from '../../schemas/outcome.ts';
import { text } from '../../warehouse/duck.ts';
import { addCommand, type Cli, type Context, handle, NoFlags } from '../command.ts';
import { Count } from '../flags.ts';
import { sessionRow } from '../session/read.ts';
import { table } from '../table.ts';
import { withWarehouse } from '../warehouse.ts';

const Flags = z.looseObject({
  limit: Count.default(50),
  task: z.string().optional(),
  outcome: z.enum(OUTCOMES, `must be one of ${OUTCOMES.join(', ')}`).optional(),
});

/** `flipstream sessions` and `flipstream session show`. */
export function addSessions(cli: Cli, session: Cli['program']): void {
  const list = addCommand(cli.program, 'sessions', 'list the sessions, newest first')
    .option('--limit <n>', 'the newest n (default: 50)')
    .option('--task <id>', 'only sessions on this task')
    .option('--outcome <outcome>', `only sessions with this outcome: ${OUTCOMES.join(', ')}`);
  handle(cli, list, Flags, async ({ config, out }, flags) => {
    const where = [
      ...(flags.task === undefined ? [] : [`task_id = ${text(flags.task)}`]),
      ...(flags.outcome === undefined ? [] : [`outcome = ${text(flags.outcome)}`]),
    ];
    const rows = await withWarehouse(config.home, ({ records }) =>
      records(
        `select session_id, started_at, task_id, outcome, attempts, turns, tool_calls, events, ended, marks
         from sessions ${where.length > 0 ? `where ${where.join(' and ')}` : ''}
         order by started_at desc nulls last, session_id limit ${flags.limit}`,
      ),
    );
    const columns = [
      'session_id',
      'started_at',
      'task_id',
      'outcome',
      'attempts',
      'turns',
      'tool_calls',
      'events',
    ];
    out.result(rows, () => (rows.length > 0 ? table(columns, rows) : 'No sessions have landed yet.'));
  });
  const show = addCommand(
    session,
    'show <session>',
    'show one session: what was said and done, and its verdicts',
  );
  handle(cli, show, NoFlags, async (context, _, [id = '']) => showSession(context, id));
}

async function showSession({ config, out }: Context, given: string): Promise<void> {
  await withWarehouse(config.home, async (warehouse) => {
    const row = await sessionRow(warehouse, given);
    const id = text(row.session_id);
    const steps = await warehouse.records(
      `select n, ts, turn, agent_id, who, tool_name, status, content, answer from conversation where session_id = ${id} order by n`,
    );
    const grades = await warehouse.records(
      `select attempt, verdict, released_at, runner, placement, evidence from grades where session_id = ${id} order by attempt`,
    );
    out.result({ session: row, steps, grades }, () =>
      [
        `session  ${row.session_id}`,
        `task     ${row.task_id ?? 'none'}`,
        `outcome  ${row.outcome ?? 'open'}${row.marks.length > 0 ? ` (${row.marks.join(', ')})` : ''}`,
        '',
        table(['n', 'who', 'tool_name', 'status', 'content', 'answer'], steps),
        '',
        grades.length > 0
          ? table(['attempt', 'verdict', 'released_at', 'runner', 'placement', 'evidence'], grades)
          : 'No signed verdicts.',
      ].join('\n'),
    );
  });
}
