import { z } from 'zod';
import type { Flip } from '../../schemas/generated.ts';
import { addCommand, type Cli, handle } from '../command.ts';
import { against, Count } from '../flags.ts';
import { followFlips } from '../follow-flips.ts';
import { withLog } from '../open-log.ts';
import { withProgress } from '../progress.ts';
import { unlessStopped } from '../stop.ts';
import { table } from '../table.ts';
import { withWarehouse } from '../warehouse.ts';

const Flags = z.looseObject({
  follow: z.boolean().default(false),
  limit: Count.default(50),
});

/** `flipstream flips`. */
export function addFlips(cli: Cli): void {
  const command = addCommand(
    cli.program,
    'flips',
    'list the flips: FAIL before the agent started, PASS after it finished',
  )
    .addOption(against(['limit'], '--follow', 'print each flip as it happens, until Ctrl-C'))
    .option('--limit <n>', 'the newest n (default: 50)');
  handle(
    cli,
    command,
    Flags,
    async ({ config, out, io }, flags) => {
      if (flags.follow)
        return withLog(config, async (log) => {
          for await (const flip of followFlips(log, io.signal)) out.item(flip, () => describe(flip));
        });
      const rows = await withProgress(io.stderr, 'Asking', () =>
        unlessStopped(io.signal, () =>
          withWarehouse(config.home, ({ records }) =>
            records(
              `select session_id, task_id, attempt, flipped_at, runner, placement, evidence, retracted
               from flips order by flipped_at desc, session_id limit ${flags.limit}`,
            ),
          ),
        ),
      );
      const columns = ['flipped_at', 'task_id', 'session_id', 'attempt', 'runner', 'evidence', 'retracted'];
      out.result(rows, () => (rows.length > 0 ? table(columns, rows) : 'No flips yet.'));
    },
    { stopsItself: true },
  );
}

function describe(flip: Flip): string {
  const what =
    flip.retracted === null ? `flipped at attempt ${flip.attempt}` : `retracted: ${flip.retracted}`;
  return `${flip.flipped_at}  ${flip.task_id}  ${flip.session_id}  ${what} (${flip.runner}, ${flip.evidence})`;
}
