import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { type ReplayOptions, replay } from '../../jobs/replay.ts';
import { openEmbeddedLog } from '../../log/embedded/open.ts';
import { type Home, layout } from '../../producers/home.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { KeyRing } from '../../schemas/signature.ts';
import { isoTime } from '../../schemas/time.ts';
import { addCommand, type Cli, type Context, handle } from '../command.ts';
import { ENGINE_FLAGS, EngineFlags } from '../engine.ts';
import { refuseBeside } from '../flags.ts';
import { acceptKeyRing, trustedKeyRing } from '../key-ring.ts';
import { type LogPlace, withLog } from '../open-log.ts';
import { type Progress, withProgress } from '../progress.ts';
import { deriveAll } from '../replay/derive.ts';
import { requireWarehouse } from '../warehouse.ts';

const Flags = EngineFlags.extend({
  from: z.enum(['log', 'archive', 'kafka'], 'must be archive, log or kafka').default('archive'),
  until: z.iso.datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z' }).optional(),
});

/** `flipstream replay`: the same warehouse contents out of the same records, in a fresh home. */
export function addReplay(cli: Cli): void {
  const command = addCommand(
    cli.program,
    'replay <fresh-home>',
    'derive everything anew from recorded events and verdicts, in a fresh home',
  )
    .option('--from <source>', 'archive (the warehouse, default), log, or kafka (the log of a cluster)')
    .option('--until <time>', 'only what happened up to then');
  for (const [flag, description] of ENGINE_FLAGS) command.option(flag, description);
  handle(
    cli,
    command,
    Flags,
    async (context, flags, [target = '']) => {
      const { config, io, out } = context;
      if (flags.from === 'kafka')
        refuseBeside('--from kafka', { '--engine embedded': flags.engine === 'embedded' });
      const fresh = layout(resolve(config.cwd, target));
      refuseUsed(fresh);
      const ring = trustedKeyRing(config.home);
      const until = flags.until === undefined ? undefined : isoTime(Date.parse(flags.until));
      const counts = await withProgress(io.stderr, 'Replaying', (progress) =>
        flags.from === 'archive'
          ? into(
              context,
              fresh,
              ring,
              { from: { warehouse: requireWarehouse(config.home) }, until },
              progress,
            )
          : withLog(placeOf(config, flags.from), async (log) => {
              const partitions = await log.partitions('trace.events');
              return into(context, fresh, ring, { from: { log }, until, partitions }, progress);
            }),
      ).catch((error: unknown) => {
        empty(fresh);
        throw error;
      });
      out.result({ home: fresh.root, from: flags.from, records: counts }, () =>
        [
          ...Object.entries(counts).map(([table, count]) => `${count} ${table}`),
          `Derived and landed in ${fresh.warehouse}. Ask it: flipstream sql --home ${fresh.root}`,
        ].join('\n'),
      );
    },
    { stopsItself: true },
  );
}

/** What to replay, and into how many partitions. */
interface Source extends Pick<ReplayOptions, 'from' | 'until'> {
  partitions?: number;
}

/** `--from kafka` means the cluster whatever this home records into; `--from log` the log that it does. */
function placeOf({ home, engine }: Context['config'], from: 'log' | 'kafka'): LogPlace {
  return { home, engine: from === 'kafka' ? { ...engine, engine: 'kafka' } : engine };
}

/** Publishes into the log of a new home and runs what derives the rest. */
async function into(
  { io }: Context,
  home: Home,
  ring: KeyRing,
  { from, until, partitions }: Source,
  progress: Progress,
): Promise<Record<string, number>> {
  acceptKeyRing(home, ring);
  const shape = partitions === undefined ? {} : { partitions };
  const log = await openEmbeddedLog({ dir: home.log, clock: io.clock, maintainEveryMs: null, ...shape });
  try {
    const counts = await replay({
      from,
      into: log,
      until,
      signal: io.signal,
      progress: (table, count) => progress.update(`${count} ${table}`),
    });
    await deriveAll({ home, log, keyRing: ring, clock: io.clock, signal: io.signal }, (behind) =>
      progress.update(`${behind} to go`),
    );
    return counts;
  } finally {
    await log.close();
  }
}

/** Half of a replay is of no use, and would be in the way of the next try. */
function empty({ root }: Home): void {
  if (!existsSync(root)) return;
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true, force: true });
}

/** @throws FlipstreamError `home_in_use` (usage): replay never adds to what is there. */
function refuseUsed(home: Home): void {
  const there = lstatSync(home.root, { throwIfNoEntry: false });
  if (there && (!there.isDirectory() || readdirSync(home.root).length > 0))
    throw new FlipstreamError(
      'home_in_use',
      'usage',
      `${home.root} is not an empty folder: name one that does not exist yet.`,
    );
}
