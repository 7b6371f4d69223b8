import pino from 'pino';
import { z } from 'zod';
import { startOracle } from '../../oracle/main.ts';
import type { ListenOn } from '../../oracle/service/listen.ts';
import { readSettings } from '../../producers/settings.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { type Cli, type Context, handle } from '../command.ts';
import type { Config } from '../config.ts';
import { engineOf } from '../engine.ts';
import { Milliseconds, refuseBeside } from '../flags.ts';
import { openLog } from '../open-log.ts';
import { addOracleCommand } from './oracle-command.ts';

const Flags = z.looseObject({
  listen: z.string().optional(),
  tlsCert: z.string().optional(),
  tlsKey: z.string().optional(),
  bucketMs: Milliseconds.optional(),
});
type Flags = z.infer<typeof Flags>;

/** `flipstream oracle serve`: the oracle alone, where its home is. */
export function addOracleServe(cli: Cli, parent: Cli['program']): void {
  const serve = addOracleCommand(
    parent,
    'serve',
    'run the oracle alone until interrupted; agent hosts fetch its verdicts, unless a Kafka cluster is configured',
  )
    .option('--listen <address>', '<host>:<port> or unix:<path> (default: where config.json has the oracle)')
    .option('--tls-cert <file>', 'certificate chain, PEM; required beyond this machine')
    .option('--tls-key <file>', 'its private key, PEM')
    .option('--bucket-ms <ms>', 'answers leave on whole multiples of this (default: 5000)');
  handle(cli, serve, Flags, serveOracle, { stopsItself: true });
}

async function serveOracle({ config, io, out }: Context, flags: Flags): Promise<void> {
  const log = engineOf(config).kind === 'kafka' ? await openLog(config) : null;
  try {
    const oracle = await startOracle({
      home: config.oracleHome,
      log,
      bucketMs: flags.bucketMs,
      logger: pino({ name: 'oracle', base: null }, pino.destination({ dest: 2, sync: true })),
      ...listenOn(config, flags),
    });
    out.item({ url: oracle.url }, () => `The oracle answers at ${oracle.url}. Ctrl-C stops it.`);
    const asked = new Promise<void>((resolve) => {
      io.signal.addEventListener('abort', () => resolve(), { once: true });
      if (io.signal.aborted) resolve();
    });
    await Promise.race([asked, oracle.done]);
    await oracle.stop();
  } finally {
    await log?.close();
  }
}

function listenOn(config: Readonly<Config>, { listen, tlsCert, tlsKey }: Flags): ListenOn {
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new FlipstreamError('flag_invalid', 'usage', 'Give both: --tls-cert and --tls-key.');
  const tls = tlsCert !== undefined && tlsKey !== undefined ? { cert: tlsCert, key: tlsKey } : undefined;
  const address = listen ?? configured(config);
  if (address.startsWith('unix:')) {
    refuseBeside(`The socket ${address}`, { '--tls-cert': tlsCert });
    return { socket: address.slice('unix:'.length) };
  }
  const parsed = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(address);
  if (parsed) return { host: parsed[1] ?? parsed[2], port: Number(parsed[3]), tls };
  throw new FlipstreamError(
    'flag_invalid',
    'usage',
    `--listen: ${address} is neither <host>:<port> nor unix:<path>.`,
  );
}

/** Where this home's own settings look for the oracle. */
function configured(config: Readonly<Config>): string {
  const { oracle } = readSettings(config.home);
  if (oracle?.url.startsWith('unix:')) return oracle.url;
  if (oracle) return new URL(oracle.url).host;
  throw new FlipstreamError(
    'no_oracle',
    'usage',
    'Nothing says where to listen: give --listen, for example 127.0.0.1:7340 or unix:/run/flipstream-oracle/oracle.sock.',
  );
}
