import { z } from 'zod';
import { OUTCOMES } from '../../schemas/outcome.ts';
import { text } from '../../warehouse/duck.ts';
import { addCommand, type Cli, type Context, handle, NoFlags } from '../command.ts';
import { counted } from '../counted.ts';
import { Count } from '../flags.ts';
import { withProgress } from '../progress.ts';
import { sessionRow } from '../session/read.ts';
import { table } from '../table.ts';
import { type Row, withWarehouse } from '../warehouse.ts';

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
  handle(cli, list, Flags, async ({ config, out, io }, flags) => {
    const where = [
      ...(flags.task === undefined ? [] : [`task_id = ${text(flags.task)}`]),
      ...(flags.outcome === undefined ? [] : [`outcome = ${text(flags.outcome)}`]),
    ];
    const rows = await withProgress(io.stderr, 'Asking', () =>
      withWarehouse(config.home, ({ records }) =>
        records(
          `select session_id, started_at, task_id, outcome, attempts, turns, tool_calls, events, ended, marks
           from sessions ${where.length > 0 ? `where ${where.join(' and ')}` : ''}
           order by started_at desc nulls last, session_id limit ${flags.limit}`,
        ),
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

async function showSession({ config, out, io }: Context, given: string): Promise<void> {
  const { session, steps, grades } = await withProgress(io.stderr, 'Reading the session', (progress) =>
    withWarehouse(config.home, async (warehouse) => {
      const session = await sessionRow(warehouse, given);
      const id = text(session.session_id);
      const steps: Row[] = [];
      const said = `select n, ts, turn, agent_id, who, tool_name, status, content, answer from conversation where session_id = ${id} order by n`;
      for await (const rows of warehouse.chunks(said)) {
        steps.push(...rows);
        progress.update(`${counted(steps.length, 'step')} read`);
      }
      const grades = await warehouse.records(
        `select attempt, verdict, released_at, runner, placement, evidence from grades where session_id = ${id} order by attempt`,
      );
      return { session, steps, grades };
    }),
  );
  out.result({ session, steps, grades }, () =>
    [
      `session  ${session.session_id}`,
      `task     ${session.task_id ?? 'none'}`,
      `outcome  ${session.outcome ?? 'open'}${session.marks.length > 0 ? ` (${session.marks.join(', ')})` : ''}`,
      '',
      table(['n', 'who', 'tool_name', 'status', 'content', 'answer'], steps),
      '',
      grades.length > 0
        ? table(['attempt', 'verdict', 'released_at', 'runner', 'placement', 'evidence'], grades)
        : 'No signed verdicts.',
    ].join('\n'),
  );
}
