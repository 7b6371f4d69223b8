import { createInterface } from 'node:readline/promises';
import type { Io } from '../command.ts';

/** Asks a yes-or-no question on the terminal; no is the default. */
export async function confirm(io: Io, question: string): Promise<boolean> {
  const readline = createInterface({ input: io.stdin, output: io.stderr });
  try {
    const answer = await readline.question(`${question} [y/N] `, { signal: io.signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    readline.close();
  }
}
