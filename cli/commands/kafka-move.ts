import { existsSync, renameSync } from 'node:fs';
import type { Command } from 'commander';
import { lockHome } from '../../oracle/db.ts';
import { openDb } from '../../producers/collector/db.ts';
import { readSettings } from '../../producers/settings.ts';
import { addCommand, type Cli, type Context, handle, NoFlags, ORACLE_HOME_FLAG } from '../command.ts';
import type { Config } from '../config.ts';
import { ENGINE_FLAGS } from '../engine.ts';
import { writeHomeConfig } from '../init/home-config.ts';
import { requireKafka } from '../kafka/cluster.ts';
import { withLog } from '../open-log.ts';
import { type Progress, withProgress } from '../progress.ts';
import { lockUp } from '../up/lock.ts';

/** `flipstream kafka move`: a home that recorded into its own log goes on, on a cluster. */
export function addKafkaMove(cli: Cli, parent: Command): void {
  const command = addCommand(
    parent,
    'move',
    'carry what this home\u2019s own log holds onto a cluster, each record once, and record there from then on',
  ).option(...ORACLE_HOME_FLAG);
  for (const [flag, description] of ENGINE_FLAGS) command.option(flag, description);
  handle(
    cli,
    command,
    NoFlags,
    async (context) => {
      const { config, io, out } = context;
      const unlock = lockAll(config);
      try {
        const counts = await withProgress(io.stderr, 'Moving', (progress) => move(context, progress));
        const aside = setAside(config);
        out.result({ carried: counts, warehouse: aside }, () =>
          [
            ...Object.entries(counts).map(([topic, count]) => `${count} of ${topic}`),
            ...(aside ? [`The tables of before are in ${aside}; new ones are made from the cluster.`] : []),
            `${config.home.config} names the cluster now. Go on with: flipstream up`,
          ].join('\n'),
        );
      } finally {
        unlock();
      }
    },
    { stopsItself: true },
  );
}

async function move({ config, io }: Context, progress: Progress): Promise<Record<string, number>> {
  const { registry: url, registry_auth: auth, ...access } = requireKafka(config);
  const [{ openCarrier }, { openRegistry }, { CARRIED, CARRIED_GROUP, moveLog }] = await Promise.all([
    import('../../log/kafka/carry.ts'),
    import('../../log/kafka/registry/registry.ts'),
    import('../kafka/move.ts'),
  ]);
  return withLog({ home: config.home, engine: { engine: 'embedded' } }, async (log) => {
    const options = {
      access,
      registry: openRegistry({ url, auth }),
      from: await log.idOf('trace.events'),
      topics: CARRIED,
      partitions: await log.partitions('trace.events'),
      group: CARRIED_GROUP,
    };
    return moveLog({
      from: log,
      open: () => openCarrier(options),
      progress: (topic, records) => progress.update(`${records} of ${topic}`),
      signal: io.signal,
    });
  });
}

/**
 * Keeps everybody from the home who could write into its log meanwhile; hooks need only the spool.
 * @throws FlipstreamError `up_running`, `collector_running`, `oracle_running` (usage)
 */
function lockAll({ home, oracleHome }: Config): () => void {
  const locks: (() => void)[] = [];
  try {
    locks.push(lockUp(home));
    const db = openDb(home.collectorDb);
    locks.push(() => db.close());
    if (existsSync(oracleHome.root)) locks.push(lockHome(oracleHome));
  } catch (error) {
    for (const unlock of locks) unlock();
    throw error;
  }
  return () => {
    for (const unlock of locks) unlock();
  };
}

/**
 * The tables are filled anew, since what they hold is on the cluster too. Then the home records there: before
 * anything else may start.
 * @returns where the tables of before are; null when there were none, or they were set aside before.
 */
function setAside(config: Config): string | null {
  const { home } = config;
  const aside = `${home.warehouse}-before-kafka`;
  const moves = existsSync(home.warehouse) && !existsSync(aside);
  if (moves) renameSync(home.warehouse, aside);
  const { brokers, registry, tls } = requireKafka(config);
  const settings = readSettings(home);
  // Names and passwords stay where they were given.
  const kafka = { ...settings.kafka, brokers, registry, tls };
  writeHomeConfig(home, { ...settings, engine: 'kafka', kafka });
  return moves ? aside : null;
}
