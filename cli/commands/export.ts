import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { toAtif } from '../../jobs/export-atif.ts';
import { toClaudeJsonl, toOpenAi } from '../../jobs/export-chat.ts';
import { isPartial } from '../../jobs/export-session.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { addCommand, type Cli, handle } from '../command.ts';
import { EXIT } from '../exit.ts';
import { requireFree } from '../out-path.ts';
import { withProgress } from '../progress.ts';
import { sessionEvents, sessionRow } from '../session/read.ts';
import { withWarehouse } from '../warehouse.ts';

const FORMATS: Readonly<Record<string, (events: readonly TraceEvent[]) => string>> = {
  atif: (events) => `${JSON.stringify(toAtif(events), null, 2)}\n`,
  openai: (events) => lines(toOpenAi(events)),
  'claude-jsonl': (events) => lines(toClaudeJsonl(events)),
};

const Flags = z.looseObject({ out: z.string().min(1).optional() });

/** `flipstream export`: a session in a format that other tools read. */
export function addExport(cli: Cli): void {
  const command = addCommand(
    cli.program,
    'export <format> <session>',
    `print a session as ${Object.keys(FORMATS).join(', ')}`,
  ).option('--out <file>', 'write it to a new file');
  handle(cli, command, Flags, async ({ config, out, io }, flags, [format = '', given = '']) => {
    const write = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
    if (!write)
      throw new FlipstreamError(
        'export_format',
        'usage',
        `There is no format ${format}: give one of ${Object.keys(FORMATS).join(', ')}.`,
      );
    const events = await withProgress(io.stderr, 'Reading the session', (progress) =>
      withWarehouse(config.home, async (warehouse) => {
        const { session_id } = await sessionRow(warehouse, given);
        return sessionEvents(warehouse, session_id, progress);
      }),
    );
    const text = write(events);
    const partial = isPartial(events);
    if (flags.out === undefined) out.raw(text);
    else {
      const file = resolve(config.cwd, flags.out);
      writeNew(file, text);
      const result = { file, bytes: Buffer.byteLength(text), partial };
      out.result(result, () => `${file}${partial ? ': some content is withheld' : ''}`);
    }
    return partial ? EXIT.partial : EXIT.ok;
  });
}

/** @throws FlipstreamError `out_exists`, `out_nowhere` (usage) */
function writeNew(file: string, text: string): void {
  requireFree(file, 'file');
  writeFileSync(file, text, { flag: 'wx', mode: 0o600, flush: true });
}

function lines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}
