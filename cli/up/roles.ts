/** What each process of `flipstream up` does. cli/ is the one place that sees every folder: here the reducers are handed to the log. */
import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import type { FiguresOptions } from '../../consumers/figures.ts';
import type { Log, Running } from '../../log/log.ts';
import { readSettings } from '../../producers/settings.ts';
import { isShared } from '../../producers/shared-home.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/time.ts';
import type { Config } from '../config.ts';
import { keyRingHash, trustedKeyRing } from '../key-ring.ts';

export const ROLES = ['collector', 'streams', 'sink', 'oracle'] as const;
export type Role = (typeof ROLES)[number];

export interface RoleOptions {
  config: Readonly<Config>;
  log: Log;
  clock: Clock;
  logger: Logger;
  /** Goes on where retention deleted what had not landed. */
  acceptGap?: boolean | undefined;
  /** The oracle's answers leave on whole multiples of this, milliseconds. */
  bucketMs?: number | undefined;
}

/** A part that runs. */
export interface RunningRole extends Running {
  /** What its live numbers are read from, beside its log. */
  landing?: Pick<FiguresOptions, 'sink' | 'warehouse'>;
}

/** Each loads its part when it starts: no process has to load the others'. */
const START: Readonly<Record<Role, (options: RoleOptions) => Promise<RunningRole>>> = {
  async collector({ config, log, clock }) {
    const { startCollector } = await import('../../producers/collector/collector.ts');
    const capture = isShared(config.home) ? 'separate_user' : 'same_user';
    return startCollector({ home: config.home, log, clock, settings: readSettings(config.home), capture });
  },
  async streams({ config, log, logger }) {
    const keyRing = trustedKeyRing(config.home);
    logger.info({ key_ring: keyRingHash(keyRing), keys: keyRing.keys.length }, 'trusts');
    const { createReducers } = await import('./reducers.ts');
    return together(createReducers(log, keyRing));
  },
  sink: startLanding,
  async oracle({ config, log, logger, bucketMs }) {
    const port = localOraclePort(config);
    const { startOracle } = await import('../../oracle/main.ts');
    return startOracle({
      home: config.oracleHome,
      log,
      logger,
      port,
      ...(bucketMs === undefined ? {} : { bucketMs }),
    });
  },
};

/** The sink and the upkeep of its tables. */
async function startLanding({
  config,
  log,
  clock,
  logger,
  acceptGap = false,
}: RoleOptions): Promise<RunningRole> {
  const { warehouse } = config.home;
  const warn = (message: string, error: unknown) => logger.warn({ reason: messageOf(error) }, message);
  const { startSink } = await import('../../consumers/sink.ts');
  const { startUpkeep } = await import('../../consumers/upkeep.ts');
  const sink = await startSink({ log, warehouse, clock, warn, acceptGap });
  const upkeep = startUpkeep({ warehouse, clock, warn });
  return {
    done: sink.done,
    stop: async () => void (await Promise.all([sink.stop(), upkeep.stop()])),
    landing: { sink, warehouse },
  };
}

/** Starts one role in this process. @throws FlipstreamError of the part itself */
export function startRole(role: Role, options: RoleOptions): Promise<RunningRole> {
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
