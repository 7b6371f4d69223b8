import { z } from 'zod';
import { type Cli, handle } from '../command.ts';
import { runRole } from '../up/run-role.ts';
import { addOracleCommand } from './oracle-command.ts';

/** `flipstream oracle serve`: the oracle alone. */
export function addOracleServe(cli: Cli, parent: Cli['program']): void {
  const serve = addOracleCommand(
    parent,
    'serve',
    'run the oracle alone, publishing into the log of this home, until interrupted',
  ).option('--bucket-ms <ms>', 'answers leave on whole multiples of this (default: 5000)');
  const Flags = z.looseObject({
    bucketMs: z.coerce
      .number('must be milliseconds')
      .int('must be whole milliseconds')
      .positive('must be above 0')
      .optional(),
  });
  handle(cli, serve, Flags, async ({ config, io }, flags) =>
    runRole('oracle', { config, bucketMs: flags.bucketMs, signal: io.signal }),
  );
}
