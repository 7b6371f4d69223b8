/** What each process of `flipstream up` does. cli/ is the one place that sees every folder: here the reducers are handed to the log. */
import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { startMetrics } from '../../consumers/metrics-endpoint.ts';
import { startSink } from '../../consumers/sink.ts';
import { startUpkeep } from '../../consumers/upkeep.ts';
import type { Log, Running } from '../../log/log.ts';
import { startOracle } from '../../oracle/main.ts';
import { startCollector } from '../../producers/collector/collector.ts';
import { readSettings } from '../../producers/settings.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/time.ts';
import { createJoin } from '../../streams/join/join.ts';
import { createBucketMetrics } from '../../streams/metrics/bucket.ts';
import { createSessionMetrics } from '../../streams/metrics/session.ts';
import { createRedact } from '../../streams/redact/redact.ts';
import type { Config } from '../config.ts';
import { readKeyRing } from '../key-ring.ts';

export const ROLES = ['collector', 'streams', 'sink', 'oracle'] as const;
export type Role = (typeof ROLES)[number];

export interface RoleOptions {
  config: Readonly<Config>;
  log: Log;
  clock: Clock;
  logger: Logger;
  /** Port of the metrics endpoint of streams and sink; under `up` the sink's process serves it. */
  metricsPort?: number | undefined;
  /** Goes on where retention deleted what had not landed. */
  acceptGap?: boolean | undefined;
  /** The oracle's answers leave on whole multiples of this, milliseconds. */
  bucketMs?: number | undefined;
}

const START: Readonly<Record<Role, (options: RoleOptions) => Promise<Running>>> = {
  collector: ({ config, log, clock }) =>
    startCollector({ home: config.home, log, clock, settings: readSettings(config.home) }),
  streams: async ({ config, log, metricsPort }) => {
    const keyRing = readKeyRing(config.home.keyRing);
    const metrics = metricsPort === undefined ? null : await startMetrics({ log, port: metricsPort });
    const reducers = together([
      log.run(createRedact()),
      log.run(createJoin({ keyRing })),
      log.run(createSessionMetrics()),
      log.run(createBucketMetrics()),
    ]);
    return {
      done: reducers.done,
      stop: async () => void (await Promise.all([reducers.stop(), metrics?.close()])),
    };
  },
  sink: startLanding,
  oracle: ({ config, log, logger, bucketMs }) =>
    startOracle({
      home: config.oracleHome,
      log,
      logger,
      port: localOraclePort(config),
      ...(bucketMs === undefined ? {} : { bucketMs }),
    }),
};

/** The sink, the upkeep of its tables, and the metrics when a port is given. */
async function startLanding({
  config,
  log,
  clock,
  logger,
  metricsPort,
  acceptGap = false,
}: RoleOptions): Promise<Running> {
  const { warehouse } = config.home;
  const warn = (message: string, error: unknown) => logger.warn({ reason: messageOf(error) }, message);
  const sink = await startSink({ log, warehouse, clock, warn, acceptGap });
  const upkeep = startUpkeep({ warehouse, clock, warn });
  const metrics =
    metricsPort === undefined ? null : await startMetrics({ log, sink, warehouse, port: metricsPort });
  if (metrics) logger.info({ url: metrics.url }, 'metrics');
  return {
    done: sink.done,
    stop: async () => void (await Promise.all([sink.stop(), upkeep.stop(), metrics?.close()])),
  };
}

/** Starts one role in this process. @throws FlipstreamError of the part itself */
export function startRole(role: Role, options: RoleOptions): Promise<Running> {
  return START[role](options);
}

/** The roles that run on this machine: the oracle only when its home is here and grades are asked of it on loopback. */
export function localRoles(config: Readonly<Config>): Role[] {
  const url = oracleUrl(config); // asked first: a broken config.json must be told of
  const local = url?.hostname === '127.0.0.1' && existsSync(config.oracleHome.root);
  return ROLES.filter((role) => role !== 'oracle' || local);
}

function localOraclePort(config: Readonly<Config>): number {
  const port = Number(oracleUrl(config)?.port);
  if (Number.isInteger(port) && port > 0) return port;
  throw new FlipstreamError(
    'oracle_port',
    'usage',
    `${config.home.config} names no port for the oracle on this machine: run flipstream init.`,
  );
}

function oracleUrl(config: Readonly<Config>): URL | null {
  const { oracle } = readSettings(config.home);
  return oracle ? new URL(oracle.url) : null;
}

/** Several that stop together; the first that fails ends them all. */
function together(parts: readonly Running[]): Running {
  return {
    done: Promise.race(parts.map((part) => part.done)),
    stop: async () => {
      await Promise.all(parts.map((part) => part.stop()));
    },
  };
}
