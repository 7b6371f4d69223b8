import { Command } from 'commander';
import type { Cli, Io } from './command.ts';
import { addDeadletter } from './commands/deadletter.ts';
import { addDemo } from './commands/demo.ts';
import { addDoctor } from './commands/doctor.ts';
import { addExport } from './commands/export.ts';
import { addFlips } from './commands/flips.ts';
import { addHarnesses } from './commands/harnesses.ts';
import { addImport } from './commands/import.ts';
import { addInit } from './commands/init.ts';
import { addKafka } from './commands/kafka.ts';
import { addOracle } from './commands/oracle.ts';
import { addPause } from './commands/pause.ts';
import { addReplay } from './commands/replay.ts';
import { addRun } from './commands/run.ts';
import { addSessionExport } from './commands/session-export.ts';
import { addSessions } from './commands/sessions.ts';
import { addSql } from './commands/sql.ts';
import { addStatus } from './commands/status.ts';
import { addTask } from './commands/task.ts';
import { addUp } from './commands/up.ts';
import { addVerify } from './commands/verify.ts';
import { EXIT } from './exit.ts';
import { packageVersion } from './package.ts';

/** The whole command tree; what each command does is in its own file. */
export function createProgram(io: Io): Cli {
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
  addDeadletter(cli);
  addDemo(cli);
  addDoctor(cli);
  addExport(cli);
  addFlips(cli);
  addHarnesses(cli);
  addImport(cli);
  addInit(cli);
  addKafka(cli);
  addOracle(cli);
  addPause(cli);
  addReplay(cli);
  addRun(cli);
  const session = program.command('session').description('one session');
  addSessions(cli, session);
  addSessionExport(cli, session);
  addSql(cli);
  addStatus(cli);
  addTask(cli);
  addUp(cli);
  addVerify(cli);
  return cli;
}
