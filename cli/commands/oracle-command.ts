/** What the commands of the oracle's side share. */
import { type Oracle, openOracle } from '../../oracle/oracle.ts';
import { addCommand, type Cli, type Context, ORACLE_HOME_FLAG } from '../command.ts';

/** They take the oracle's home instead of ours. */
export function addOracleCommand(parent: Cli['program'], usage: string, description: string): Cli['program'] {
  return addCommand(parent, usage, description).option(...ORACLE_HOME_FLAG);
}

/** Opens the oracle's home for one command. */
export async function withOracle<T>(context: Context, work: (oracle: Oracle) => T | Promise<T>): Promise<T> {
  const oracle = openOracle({ home: context.config.oracleHome, clock: context.io.clock });
  try {
    return await work(oracle);
  } finally {
    oracle.close();
  }
}
