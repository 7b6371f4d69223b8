import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { openEmbeddedLog } from '../../log/embedded/open.ts';
import { type Home, layout } from '../../producers/home.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { KeyRing } from '../../schemas/signature.ts';
import { addCommand, type Cli, type Context, handle } from '../command.ts';
import { withLog } from '../open-log.ts';
import { type Progress, withProgress } from '../progress.ts';
import { fromArchive } from '../replay/archive.ts';
import { fromLog, publishAll, type Source } from '../replay/copy.ts';
import { deriveAll } from '../replay/derive.ts';
import { withWarehouse } from '../warehouse.ts';
import { readKeyRing } from './verify.ts';

const Flags = z.looseObject({
  from: z.enum(['log', 'archive'], 'must be log or archive').default('archive'),
});

/** `flipstream replay`: the same warehouse contents out of the same records, in a fresh home. */
export function addReplay(cli: Cli): void {
  const command = addCommand(
    cli.program,
    'replay <fresh-home>',
    'derive everything anew from recorded events and verdicts, in a fresh home',
  ).option('--from <source>', 'archive (the warehouse, default) or log');
  handle(cli, command, Flags, async (context, flags, [target = '']) => {
    const { config, io, out } = context;
    const fresh = layout(resolve(config.cwd, target));
    refuseUsed(fresh);
    const ring = readKeyRing(config.home.keyRing);
    const counts = await withProgress(io.stderr, 'Replaying', (progress) =>
      flags.from === 'log'
        ? withLog(config.home, async (log) =>
            replay(context, fresh, ring, fromLog(log), await log.partitions('trace.events'), progress),
          )
        : withWarehouse(config.home, (warehouse) =>
            replay(context, fresh, ring, fromArchive(warehouse), undefined, progress),
          ),
    );
    out.result({ home: fresh.root, from: flags.from, records: counts }, () =>
      [
        ...Object.entries(counts).map(([topic, count]) => `${count} records of ${topic}`),
        `Derived and landed in ${fresh.warehouse}. Ask it: flipstream sql --home ${fresh.root}`,
      ].join('\n'),
    );
  });
}

async function replay(
  { io }: Context,
  home: Home,
  ring: KeyRing,
  source: Source,
  partitions: number | undefined,
  progress: Progress,
): Promise<Record<string, number>> {
  mkdirSync(home.root, { recursive: true, mode: 0o700 });
  writeFileSync(home.keyRing, `${JSON.stringify(ring, null, 2)}\n`, { mode: 0o600 });
  const shape = partitions === undefined ? {} : { partitions };
  const log = await openEmbeddedLog({ dir: home.log, clock: io.clock, maintainEveryMs: null, ...shape });
  try {
    const counts = await publishAll(source, log, (records) => progress.update(`${records} records`));
    await deriveAll(home, log, ring, io.clock, (behind) => progress.update(`${behind} to go`));
    return counts;
  } finally {
    await log.close();
  }
}

/** @throws FlipstreamError `home_in_use` (usage): replay never adds to what is there. */
function refuseUsed(home: Home): void {
  if (existsSync(home.root) && readdirSync(home.root).length > 0)
    throw new FlipstreamError(
      'home_in_use',
      'usage',
      `${home.root} is not empty: name a folder that does not exist yet.`,
    );
}
