import { z } from 'zod';
import { createToken, revokeTokens } from '../../oracle/service/tokens.ts';
import { type Cli, handle } from '../command.ts';
import { against } from '../flags.ts';
import { addOracleCommand, withOracle } from './oracle-command.ts';
import { addOracleGrades } from './oracle-grade.ts';
import { addOracleKey } from './oracle-key.ts';
import { addOracleLog, addOracleSignals } from './oracle-log.ts';
import { addOracleServe } from './oracle-serve.ts';
import { addOracleTask } from './oracle-task.ts';

/** `flipstream oracle …`: run where the oracle's home is, by the person who operates it. */
export function addOracle(cli: Cli): void {
  const oracle = cli.program
    .command('oracle')
    .description('operate the oracle: tasks, keys, tokens, grades by hand, its private log');
  addOracleTask(cli, oracle);
  addOracleKey(cli, oracle);
  addToken(cli, oracle);
  addOracleGrades(cli, oracle);
  addOracleServe(cli, oracle);
  addOracleLog(cli, oracle);
  addOracleSignals(cli, oracle);
}

function addToken(cli: Cli, oracle: Cli['program']): void {
  const token = addOracleCommand(oracle, 'token <host>', 'make a token for an agent host; it is printed once')
    .option('--task <id...>', 'tasks it may ask for (default: all)')
    .addOption(against(['task'], '--revoke', 'take back every token of this host instead'));
  const Flags = z.looseObject({
    task: z.array(z.string()).default(['*']),
    revoke: z.boolean().default(false),
  });
  handle(cli, token, Flags, async (context, flags, [host = '']) =>
    withOracle(context, (opened) => {
      if (flags.revoke) {
        const revoked = revokeTokens(opened, host);
        context.out.result({ host, revoked }, () => `${revoked} token(s) of ${host} no longer work.`);
      } else {
        const made = createToken(opened, host, flags.task);
        context.out.result({ host, token: made, tasks: flags.task }, () => made);
      }
    }),
  );
}
