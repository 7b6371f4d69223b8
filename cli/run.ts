import { CommanderError } from 'commander';
import type { Io } from './command.ts';
import { isDebug } from './config.ts';
import { EXIT, type ExitCode, explain } from './exit.ts';
import { createOutput } from './output.ts';
import { createProgram } from './program.ts';

/**
 * Runs one command line and returns its exit code. Never throws: an error becomes one sentence on stderr
 * (JSON with --json), and its stack only with FLIPSTREAM_DEBUG.
 */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  try {
    const cli = await createProgram(io, argv);
    await cli.program.parseAsync(argv, { from: 'user' });
    return cli.exit;
  } catch (error) {
    const json = argv.includes('--json');
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.ok;
      if (error.code === 'commander.help') return EXIT.usage; // the help itself says what there is
      const sentence = error.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
      createOutput(io, json).error(
        'flag_invalid',
        `flipstream: ${sentence} (flipstream --help tells what there is)`,
      );
      return EXIT.usage;
    }
    if (io.signal.aborted && error instanceof Error && error.name === 'AbortError') return EXIT.interrupted;
    const { code, message, exit } = explain(error);
    const stack = isDebug(io.env) && error instanceof Error ? error.stack : undefined;
    createOutput(io, json).error(code, message, stack);
    return exit;
  }
}
