import { join, resolve } from 'node:path';
import { z } from 'zod';
import { FlipstreamError } from '../../schemas/errors.ts';
import { addCommand, type Cli, handle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { withProgress } from '../progress.ts';
import { exportRows } from '../sql/export.ts';
import { runPrompt } from '../sql/prompt.ts';
import { FORMATS, format } from '../sql/result.ts';
import { withWarehouse } from '../warehouse.ts';

const Flags = z.looseObject({
  format: z.enum(FORMATS, 'must be table, json or csv').optional(),
  out: z.string().min(1).optional(),
});

/** `flipstream sql`. */
export function addSql(cli: Cli): void {
  const command = addCommand(cli.program, 'sql [query]', 'ask the warehouse; without a query, open a prompt')
    .option('--format <format>', 'table (default), json or csv')
    .option('--out <file>', 'write the rows to a file (json or csv) and count them there again');
  handle(cli, command, Flags, async ({ config, out, io }, flags, [sql]) => {
    const as = flags.format ?? (out.json ? 'json' : 'table');
    const { home } = config;
    if (flags.out !== undefined) {
      const file = resolve(config.cwd, flags.out);
      const written = flags.format ?? (file.endsWith('.csv') ? 'csv' : 'json');
      if (sql === undefined || written === 'table')
        throw new FlipstreamError('flag_invalid', 'usage', '--out needs a query, and --format json or csv.');
      const rows = await withProgress(io.stderr, `Writing ${file}`, (progress) =>
        withWarehouse(home, async ({ stream }) =>
          exportRows(file, await stream(sql), written, (count) => progress.update(`${count} rows`)),
        ),
      );
      out.result({ file, rows }, () => `${rows} rows in ${file}.`);
      return EXIT.ok;
    }
    return withWarehouse(home, async ({ query }) => {
      if (sql === undefined) {
        const failed = await runPrompt(io, query, join(home.root, 'sql_history'), as);
        return failed > 0 && io.stdin.isTTY !== true ? EXIT.failed : EXIT.ok;
      }
      const result = await withProgress(io.stderr, 'Asking', () => query(sql));
      out.raw(format(result, as));
      return EXIT.ok;
    });
  });
}
