import { join } from 'node:path';
import pino from 'pino';
import { z } from 'zod';
import { mergeFigures } from '../../consumers/merge-figures.ts';
import { type MetricsEndpoint, startMetrics } from '../../consumers/metrics-endpoint.ts';
import { isShared } from '../../producers/shared-home.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { addCommand, type Cli, type Context, handle, ORACLE_HOME_FLAG } from '../command.ts';
import { ENGINE_FLAGS, EngineFlags, engineOf } from '../engine.ts';
import { EXIT } from '../exit.ts';
import { Milliseconds, Port, refuseBeside } from '../flags.ts';
import { mainScript } from '../package.ts';
import { withProgress } from '../progress.ts';
import { lockUp } from '../up/lock.ts';
import { localRoles, ROLES } from '../up/roles.ts';
import { partEnvironment, upSettings } from '../up/settings.ts';
import { type Part, supervise } from '../up/supervise.ts';
import { becomeOwner } from '../up/system.ts';

const Flags = EngineFlags.extend({
  system: z.boolean().default(false),
  role: z.enum(ROLES, `must be one of ${ROLES.join(', ')}`).optional(),
  metricsPort: Port.optional(),
  acceptGap: z.boolean().default(false),
  bucketMs: Milliseconds.optional(),
});
type Flags = z.infer<typeof Flags>;

/** `flipstream up`: collector, streams, sink and, when it lives here, the oracle; until interrupted. */
export function addUp(cli: Cli): void {
  const command = addCommand(
    cli.program,
    'up',
    'run collector, streams, sink and the local oracle until interrupted',
  )
    .option(...ORACLE_HOME_FLAG)
    .option(
      '--system',
      'as root: run as the user whose home it is (init --system), apart from the agents\u2019 users',
    )
    .option('--role <role>', `run one part in this process: ${ROLES.join(', ')}`)
    .option('--metrics-port <port>', 'serve Prometheus metrics of all that it runs on this loopback port')
    .option('--accept-gap', 'let the sink go on where retention deleted what had not landed')
    .option('--bucket-ms <ms>', 'the oracle answers on whole multiples of this (default: 5000)');
  for (const [flag, description] of ENGINE_FLAGS) command.option(flag, description);
  handle(
    cli,
    command,
    Flags,
    async (context, flags) => {
      const { config, io } = context;
      refuseOfOthers(flags);
      const settings = upSettings(flags, io.env, flags.role ? null : config.home);
      if (flags.system) becomeOwner(config.home);
      if (flags.role) {
        const { runRole } = await import('../up/run-role.ts');
        return runRole(flags.role, {
          config,
          ...settings,
          acceptGap: flags.acceptGap,
          signal: io.signal,
        });
      }
      await superviseAll(context, { ...flags, ...settings });
      return EXIT.ok;
    },
    { stopsItself: true },
  );
}

/** What only another part would do something with. */
function refuseOfOthers({ role, acceptGap, bucketMs }: Flags): void {
  if (role === undefined) return;
  const what = `--role ${role}`;
  if (role !== 'sink') refuseBeside(what, { '--accept-gap': acceptGap });
  if (role !== 'oracle') refuseBeside(what, { '--bucket-ms': bucketMs });
}

/** @throws FlipstreamError `up_running` (usage), or the error of a part that another start would not mend */
async function superviseAll(context: Context, flags: Flags): Promise<void> {
  const { config, io, out } = context;
  engineOf(config); // a broken one is told of once, not by each part
  const roles = localRoles(config);
  if (roles.includes('oracle') && isShared(config.home)) throw oracleBeside(config.home.root);
  const unlock = lockUp(config.home);
  let metrics: MetricsEndpoint | null = null;
  try {
    if (flags.metricsPort !== undefined)
      metrics = await startMetrics({
        port: flags.metricsPort,
        text: async () => mergeFigures(await supervisor.figures()),
      });
    const supervisor = supervise(
      roles.map((role) => partOf(role, config.home.root, config.oracleHome.root, flags)),
      partEnvironment(flags.system ? { ...io.env, HOME: config.home.root } : io.env),
      pino({ name: 'up' }, pino.destination({ dest: 2, sync: true })),
    );
    const stopped = new Promise<null>((resolve) => {
      io.signal.addEventListener('abort', () => resolve(null), { once: true });
      if (io.signal.aborted) resolve(null);
    });
    const ready = supervisor.ready.then(
      () => 'ready' as const,
      (error: FlipstreamError) => error,
    );
    let ended = await withProgress(io.stderr, 'Starting', () => Promise.race([ready, stopped]));
    if (ended === 'ready') {
      out.item(
        {
          running: roles,
          pids: supervisor.pids(),
          home: config.home.root,
          ...(metrics && { metrics: metrics.url }),
        },
        () =>
          [
            `flipstream runs (${roles.join(', ')}). Home: ${config.home.root}. Ctrl-C stops it.`,
            ...(metrics ? [`Metrics: ${metrics.url}`] : []),
          ].join('\n'),
      );
      ended = await Promise.race([supervisor.failed, stopped]);
    }
    await withProgress(io.stderr, 'Stopping', () => supervisor.stop());
    if (ended instanceof FlipstreamError) throw ended;
  } finally {
    await metrics?.close();
    unlock();
  }
}

/** Graded code of the process runner is the oracle's user: it would reach the collector's token and traces. */
function oracleBeside(home: string): FlipstreamError {
  const message = `${home} is made for agents of other users, and so its oracle runs as a third user: start it with flipstream oracle serve, and name it with flipstream init --oracle.`;
  return new FlipstreamError('oracle_beside', 'usage', message);
}

/** The command line of one part. */
export function partOf(role: string, home: string, oracleHome: string, flags: Partial<Flags>): Part {
  const args = [mainScript(), 'up', '--role', role, '--home', home, '--oracle-home', oracleHome];
  // Names and passwords go by the environment only: a command line can be read by everyone.
  if (flags.engine !== undefined) args.push('--engine', flags.engine);
  if (flags.brokers !== undefined) args.push('--brokers', flags.brokers);
  if (flags.registry !== undefined) args.push('--registry', flags.registry);
  if (role === 'sink' && flags.acceptGap) args.push('--accept-gap');
  if (role === 'oracle' && flags.bucketMs !== undefined) args.push('--bucket-ms', String(flags.bucketMs));
  return { name: role, args, compiled: join(home, 'cache') };
}
