import pino from 'pino';
import { z } from 'zod';
import { addCommand, type Cli, type Context, handle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { mainScript } from '../package.ts';
import { localRoles, ROLES } from '../up/roles.ts';
import { runRole } from '../up/run-role.ts';
import { type Part, supervise } from '../up/supervise.ts';

const Port = z.coerce
  .number('must be a port')
  .int('must be a port')
  .min(0, 'must be a port')
  .max(65_535, 'must be a port');
const Flags = z.looseObject({
  role: z.enum(ROLES, `must be one of ${ROLES.join(', ')}`).optional(),
  metricsPort: Port.optional(),
  acceptGap: z.boolean().default(false),
  bucketMs: z.coerce
    .number('must be milliseconds')
    .int('must be whole milliseconds')
    .positive('must be above 0')
    .optional(),
});
type Flags = z.infer<typeof Flags>;

/** `flipstream up`: collector, streams, sink and, when it lives here, the oracle; until interrupted. */
export function addUp(cli: Cli): void {
  const command = addCommand(
    cli.program,
    'up',
    'run collector, streams, sink and the local oracle until interrupted',
  )
    .option(
      '--oracle-home <dir>',
      'the oracle\u2019s home (default: FLIPSTREAM_ORACLE_HOME, else beside the state directory)',
    )
    .option('--role <role>', `run one part in this process: ${ROLES.join(', ')}`)
    .option('--metrics-port <port>', 'serve Prometheus metrics on this loopback port')
    .option('--accept-gap', 'let the sink go on where retention deleted what had not landed')
    .option('--bucket-ms <ms>', 'the oracle answers on whole multiples of this (default: 5000)');
  handle(cli, command, Flags, async (context, flags) => {
    const { config, io } = context;
    if (flags.role)
      return runRole(flags.role, {
        config,
        metricsPort: flags.metricsPort,
        bucketMs: flags.bucketMs,
        signal: io.signal,
      });
    await superviseAll(context, flags);
    return EXIT.ok;
  });
}

async function superviseAll({ config, io, out }: Context, flags: Flags): Promise<void> {
  const logger = pino({ name: 'up' }, pino.destination({ dest: 2, sync: true }));
  const roles = localRoles(config);
  const supervisor = supervise(
    roles.map((role) => partOf(role, config.home.root, config.oracleHome.root, flags)),
    io.env,
    logger,
  );
  const stopped = new Promise<void>((resolve) =>
    io.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  await Promise.race([supervisor.ready, stopped]);
  if (!io.signal.aborted) {
    out.item(
      { running: roles, pids: supervisor.pids(), home: config.home.root },
      () => `flipstream runs (${roles.join(', ')}). Home: ${config.home.root}. Ctrl-C stops it.`,
    );
  }
  if (!io.signal.aborted) await stopped;
  await supervisor.stop();
}

/** The command line of one part. */
export function partOf(role: string, home: string, oracleHome: string, flags: Partial<Flags>): Part {
  const args = [mainScript(), 'up', '--role', role, '--home', home, '--oracle-home', oracleHome];
  if (role === 'sink' && flags.metricsPort !== undefined)
    args.push('--metrics-port', String(flags.metricsPort));
  if (role === 'sink' && flags.acceptGap) args.push('--accept-gap');
  if (role === 'oracle' && flags.bucketMs !== undefined) args.push('--bucket-ms', String(flags.bucketMs));
  return { name: role, args };
}
