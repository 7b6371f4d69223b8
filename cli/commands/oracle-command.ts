/** What the commands of the oracle's side share. */
import { type Oracle, openOracle } from '../../oracle/oracle.ts';
import type { Runner } from '../../oracle/runner/runner.ts';
import { addCommand, type Cli, type Context, ORACLE_HOME_FLAG } from '../command.ts';

/** They take the oracle's home instead of ours. */
export function addOracleCommand(parent: Cli['program'], usage: string, description: string): Cli['program'] {
  return addCommand(parent, usage, description).option(...ORACLE_HOME_FLAG);
}

/** Opens the oracle's home for one command. A run that is on when the person stops it is ended, with all it started. */
export async function withOracle<T>(
  { config, io }: Pick<Context, 'config' | 'io'>,
  work: (oracle: Oracle) => T | Promise<T>,
): Promise<T> {
  const oracle = openOracle({ home: config.oracleHome, clock: io.clock });
  const { signal } = io;
  const run: Runner['run'] = async (job) => {
    signal.throwIfAborted();
    return oracle.runner.run({ ...job, signal });
  };
  try {
    return await work({ ...oracle, runner: { ...oracle.runner, run } });
  } finally {
    oracle.close();
  }
}
