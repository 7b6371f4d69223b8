import { join, resolve } from 'node:path';
import { z } from 'zod';
import { exportQuery } from '../../jobs/export.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { addCommand, type Cli, type Context, handle } from '../command.ts';
import { counted } from '../counted.ts';
import { EXIT } from '../exit.ts';
import { refuseBeside } from '../flags.ts';
import { requireFree } from '../out-path.ts';
import { withProgress } from '../progress.ts';
import { runPrompt, splitStatements } from '../sql/prompt.ts';
import { FORMATS, type Format, format, type Query } from '../sql/result.ts';
import { requireWarehouse, withWarehouse } from '../warehouse.ts';

const Flags = z.looseObject({
  format: z.enum(FORMATS, `must be one of ${FORMATS.join(', ')}`).optional(),
  out: z.string().min(1).optional(),
});

/** `flipstream sql`. */
export function addSql(cli: Cli): void {
  const command = addCommand(cli.program, 'sql [query]', 'ask the warehouse; without a query, open a prompt')
    .option('--format <format>', 'table (default), json, jsonl or csv')
    .option('--out <file>', 'write the rows to a new file, not as a table, and count them there again');
  handle(cli, command, Flags, async (context, flags, [sql]) => {
    const { config, out, io } = context;
    const { home } = config;
    if (flags.out !== undefined) return writeOut(context, sql, flags.out, flags.format);
    const as = flags.format ?? (out.json ? 'json' : 'table');
    if (out.json) refuseBeside('--json', { [`--format ${as}`]: as === 'table' || as === 'csv' });
    return withWarehouse(home, async ({ query }) => {
      if (sql === undefined) {
        const asked: Query = (statement) => withProgress(io.stderr, 'Asking', () => query(statement));
        const failed = await runPrompt(io, asked, join(home.root, 'sql_history'), as);
        return failed > 0 && io.stdin.isTTY !== true ? EXIT.failed : EXIT.ok;
      }
      for (const statement of statementsOf(sql))
        out.raw(format(await withProgress(io.stderr, 'Asking', () => query(statement)), as));
      return EXIT.ok;
    });
  });
}

/** One by one, so that each answer is printed; the last one needs no `;`. */
function statementsOf(sql: string): string[] {
  const { statements, rest } = splitStatements(sql);
  return statements.length > 0 && rest.trim() === '' ? statements : [...statements, rest];
}

async function writeOut({ config, out, io }: Context, sql: string | undefined, name: string, given?: Format) {
  const file = resolve(config.cwd, name);
  const as = given ?? FORMATS.find((known) => file.endsWith(`.${known}`));
  if (sql === undefined || as === undefined || as === 'table')
    throw new FlipstreamError(
      'flag_invalid',
      'usage',
      '--out needs a query, and a file that ends in .json, .jsonl or .csv, or --format json, jsonl or csv.',
    );
  requireFree(file, 'file');
  const warehouse = requireWarehouse(config.home);
  const { rows, bytes } = await withProgress(io.stderr, `Writing ${file}`, () =>
    exportQuery(warehouse, sql, { out: file, format: as }),
  );
  out.result({ file, rows, bytes }, () => `${counted(rows, 'row')} in ${file}.`);
  return EXIT.ok;
}
