import type { Home } from '../../producers/home.ts';
import { hookArguments } from './registration.ts';

/** How the hook is started: a program and its arguments. */
export function hookCommand(home: Home, node: string, registration: string): string[] {
  return [node, ...hookArguments(home.hook, registration, home.root)];
}

/** A command as a line for a POSIX shell. */
export function shellLine(command: readonly string[]): string {
  return command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}
