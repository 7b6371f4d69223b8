import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { refuseNewerTables } from '../../warehouse/snapshots.ts';
import { addCommand, type Cli, handle } from '../command.ts';
import { counted } from '../counted.ts';
import { EXIT } from '../exit.ts';
import { trustedKeyRing } from '../key-ring.ts';
import { requireFree } from '../out-path.ts';
import { withProgress } from '../progress.ts';
import { sessionEvents, sessionRow, sessionVerdicts } from '../session/read.ts';
import { inSteps } from '../steps.ts';
import { type Bundle, bundleFiles, bundleText, makingBundle, readBundle } from '../verify/bundle.ts';
import { checking } from '../verify/check.ts';
import { withWarehouse } from '../warehouse.ts';

const Flags = z.looseObject({ out: z.string().min(1).optional() });

/** `flipstream session export`: the bundle that `verify` takes. */
export function addSessionExport(cli: Cli, session: Cli['program']): void {
  const command = addCommand(
    session,
    'export <session>',
    'write a bundle of one session: its chains, signed verdicts, baseline and public keys',
  ).option('--out <path>', 'a folder, or one file if it ends in .jsonl (default: session-<id>)');
  handle(cli, command, Flags, async ({ config, out, io }, flags, [given = '']) => {
    const ring = trustedKeyRing(config.home);
    const path = resolve(config.cwd, flags.out ?? `session-${given}`);
    const { bundle, report } = await withProgress(io.stderr, 'Exporting the session', async (progress) => {
      const bundle = await withWarehouse(config.home, async (warehouse) => {
        await refuseNewerTables(config.home.warehouse);
        const { session_id } = await sessionRow(warehouse, given);
        const events = await sessionEvents(warehouse, session_id, progress);
        const verdicts = await sessionVerdicts(warehouse, session_id);
        return inSteps(makingBundle(session_id, events, verdicts, ring), progress);
      });
      writeBundle(path, bundle);
      // Read back from the disk: what was written is what counts.
      return { bundle, report: await inSteps(checking(readBundle(path), null), progress) };
    });
    const counts = { events: bundle.events.length, verdicts: bundle.verdicts.length };
    out.result({ path, ...counts, state: report.state }, () =>
      [
        `${counted(counts.events, 'event')} and ${counted(counts.verdicts, 'verdict')} in ${path}: ${report.state}.`,
        `Check it anywhere: flipstream verify ${path}`,
      ].join('\n'),
    );
    return report.state === 'altered' ? EXIT.failed : report.state === 'withheld' ? EXIT.partial : EXIT.ok;
  });
}

/** Closed to other users: a bundle holds the whole session. */
function writeBundle(path: string, bundle: Bundle): void {
  requireFree(path, path.endsWith('.jsonl') ? 'file' : 'folder');
  const fresh = `${path}.${process.pid}.part`;
  const write = (file: string, text: string) => writeFileSync(file, text, { mode: 0o600, flush: true });
  try {
    if (path.endsWith('.jsonl')) write(fresh, bundleText(bundle));
    else {
      mkdirSync(fresh, { mode: 0o700 });
      for (const [name, text] of Object.entries(bundleFiles(bundle))) write(join(fresh, name), text);
    }
    renameSync(fresh, path);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
