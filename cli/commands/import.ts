import { resolve } from 'node:path';
import { someRefused } from '../../producers/import/counts.ts';
import { importPaths } from '../../producers/import/import.ts';
import { requireAny } from '../../producers/import/walk.ts';
import { readSettings } from '../../producers/settings.ts';
import { addCommand, type Cli, handle, NoFlags } from '../command.ts';
import { EXIT } from '../exit.ts';
import { reportText } from '../import/report-text.ts';
import { openLog } from '../open-log.ts';
import { withProgress } from '../progress.ts';

/** Bytes of one content field: as much as a scan takes at once, where a live hook must be quick. */
const FIELD_LIMIT = 1024 * 1024;

/** `flipstream import`. */
export function addImport(cli: Cli): void {
  const command = addCommand(
    cli.program,
    'import <path...>',
    'import trajectories that harnesses left on disk: files, or folders with them',
  );
  handle(
    cli,
    command,
    NoFlags,
    async ({ config, out, io }, _, named) => {
      const paths = named.map((path) => resolve(config.cwd, path));
      // a mistyped path makes no home
      await requireAny(paths);
      const log = await openLog(config);
      try {
        const report = await withProgress(io.stderr, 'Importing', (progress) =>
          importPaths({
            ...{ paths, home: config.home, log, clock: io.clock, signal: io.signal },
            limit: readSettings(config.home).field_limit ?? FIELD_LIMIT,
            warn: (message) => out.note(message),
            progress: (done, all) => progress.update(`${percent(done, all)} %`),
          }),
        );
        out.result(report, () => reportText(report));
        return someRefused(report) ? EXIT.partial : EXIT.ok;
      } finally {
        await log.close();
      }
    },
    { stopsItself: true },
  );
}

function percent(done: number, all: number): number {
  return all === 0 ? 100 : Math.floor((done / all) * 100);
}
