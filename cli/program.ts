import { Command } from 'commander';
import type { Cli, Io } from './command.ts';
import { EXIT } from './exit.ts';
import { packageVersion } from './package.ts';

type Add = (cli: Cli) => Promise<void>;

const addPauseAndResume: Add = async (cli) => (await import('./commands/pause.ts')).addPause(cli);
const addAllOfSessions: Add = async (cli) => {
  const { addSessions } = await import('./commands/sessions.ts');
  const { addSessionExport } = await import('./commands/session-export.ts');
  const session = cli.program.command('session').description('one session');
  addSessions(cli, session);
  addSessionExport(cli, session);
};

/** What adds a command, by the first word of a command line. */
const COMMANDS: ReadonlyMap<string, Add> = new Map<string, Add>([
  ['deadletter', async (cli) => (await import('./commands/deadletter.ts')).addDeadletter(cli)],
  ['demo', async (cli) => (await import('./commands/demo.ts')).addDemo(cli)],
  ['doctor', async (cli) => (await import('./commands/doctor.ts')).addDoctor(cli)],
  ['export', async (cli) => (await import('./commands/export.ts')).addExport(cli)],
  ['flips', async (cli) => (await import('./commands/flips.ts')).addFlips(cli)],
  ['harnesses', async (cli) => (await import('./commands/harnesses.ts')).addHarnesses(cli)],
  ['import', async (cli) => (await import('./commands/import.ts')).addImport(cli)],
  ['init', async (cli) => (await import('./commands/init.ts')).addInit(cli)],
  ['kafka', async (cli) => (await import('./commands/kafka.ts')).addKafka(cli)],
  ['key-ring', async (cli) => (await import('./commands/key-ring.ts')).addKeyRing(cli)],
  ['oracle', async (cli) => (await import('./commands/oracle.ts')).addOracle(cli)],
  ['pause', addPauseAndResume],
  ['resume', addPauseAndResume],
  ['quarantine', async (cli) => (await import('./commands/quarantine.ts')).addQuarantine(cli)],
  ['replay', async (cli) => (await import('./commands/replay.ts')).addReplay(cli)],
  ['run', async (cli) => (await import('./commands/run.ts')).addRun(cli)],
  ['session', addAllOfSessions],
  ['sessions', addAllOfSessions],
  ['sql', async (cli) => (await import('./commands/sql.ts')).addSql(cli)],
  ['status', async (cli) => (await import('./commands/status.ts')).addStatus(cli)],
  ['task', async (cli) => (await import('./commands/task.ts')).addTask(cli)],
  ['up', async (cli) => (await import('./commands/up.ts')).addUp(cli)],
  ['verify', async (cli) => (await import('./commands/verify.ts')).addVerify(cli)],
]);

/**
 * The command tree; what each command does is in its own file. Only the command that `argv` begins with is
 * loaded, since all of them together take longer to load than most take to run; the whole tree when it begins
 * with none, for help and for what is said of a wrong word.
 */
export async function createProgram(io: Io, argv: readonly string[] = []): Promise<Cli> {
  const program = new Command('flipstream')
    .description('Coding-agent sessions, graded by an oracle the agent cannot touch.')
    .version(packageVersion(), '--version', 'print the version')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: () => {}, // run.ts says it, as JSON where that was asked for
    });
  const cli: Cli = { program, io, exit: EXIT.ok };
  const wanted = COMMANDS.get(argv[0] ?? '');
  const needed = wanted ? [wanted] : argv[0] === '--version' ? [] : new Set(COMMANDS.values());
  for (const add of needed) await add(cli);
  return cli;
}
