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
  const cli = createProgram(io);
  try {
    await cli.program.parseAsync(argv, { from: 'user' });
    return cli.exit;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (io.signal.aborted && error instanceof Error && error.name === 'AbortError') return EXIT.interrupted;
    const { code, message, exit } = explain(error);
    const stack = isDebug(io.env) && error instanceof Error ? error.stack : undefined;
    createOutput(io, argv.includes('--json')).error(code, message, stack);
    return exit;
  }
}
