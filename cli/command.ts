/** What a command is given, and how one is added to the program. */
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { z } from 'zod';
import { isShared } from '../producers/shared-home.ts';
import { FlipstreamError } from '../schemas/errors.ts';
import { inPlainWords } from '../schemas/read-as.ts';
import type { Clock } from '../schemas/time.ts';
import { type Config, loadConfig } from './config.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { createOutput, type Output, type Streams } from './output.ts';
import { unlessStopped } from './stop.ts';

/** The outside world, passed in so that commands run in tests without a process. */
export interface Io extends Streams {
  stdin: Readable & { isTTY?: boolean };
  env: NodeJS.ProcessEnv;
  cwd: string;
  clock: Clock;
  /** Aborted by SIGINT and SIGTERM. */
  signal: AbortSignal;
}

export interface Context {
  config: Readonly<Config>;
  out: Output;
  io: Io;
}

export interface Cli {
  program: Command;
  io: Io;
  /** Set by the command that ran. */
  exit: ExitCode;
}

/** Adds a command below `parent` with the flags that every command has. `usage`: name and arguments. */
export function addCommand(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option('--json', 'print JSON instead of text')
    .option('--home <dir>', 'home directory (default: FLIPSTREAM_HOME, else the state directory)');
}

/** For commands that work with the oracle's home. */
export const ORACLE_HOME_FLAG = [
  '--oracle-home <dir>',
  'the oracle\u2019s home (default: FLIPSTREAM_ORACLE_HOME, else what init wrote down, else beside the state directory)',
] as const;

const Arguments = z.array(z.string());

export interface HandleOptions {
  /** It looks at the signal itself, since it leaves something behind or is done then; others are left where they are. */
  stopsItself?: boolean;
}

/**
 * Connects a command with its work: configuration, flags (read with zod), arguments in order, output and exit
 * code in one place. The handler returns an exit code, or undefined for 0; what it throws once it was told to stop
 * is the signal's reason.
 */
export function handle<S extends z.ZodType>(
  cli: Cli,
  command: Command,
  flags: S,
  handler: (
    context: Context,
    flags: z.output<S>,
    args: readonly string[],
  ) => Promise<ExitCode | undefined> | Promise<void>,
  { stopsItself = false }: HandleOptions = {},
): void {
  command.action(async (...given: unknown[]) => {
    const all = command.optsWithGlobals();
    const config = loadConfig(cli.io.env, all, cli.io.cwd);
    // other users pass through such a home: what is made in it is closed to them, but for what shared-home.ts opens
    if (isShared(config.home)) process.umask(0o077);
    const parsed = flags.safeParse(all, { error: inPlainWords });
    if (!parsed.success) throw badFlag(parsed.error);
    const args = Arguments.parse(
      given
        .slice(0, -2)
        .flat()
        .filter((arg) => arg !== undefined),
    );
    const context = { config, out: createOutput(cli.io, config.json), io: cli.io };
    const { signal } = cli.io;
    const work = async () => (await handler(context, parsed.data, args)) ?? EXIT.ok;
    try {
      cli.exit = await (stopsItself ? work() : unlessStopped(signal, work));
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  });
}

/** No flags beyond those of every command. */
export const NoFlags = z.looseObject({});

function badFlag(error: z.ZodError): FlipstreamError {
  const issue = error.issues[0];
  const name = String(issue?.path[0] ?? '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return new FlipstreamError('flag_invalid', 'usage', `--${name}: ${issue?.message ?? 'is not valid'}.`);
}
