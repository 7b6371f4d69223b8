import type { Home } from '../../producers/home.ts';
import { hookArguments } from './registration.ts';

/** How the hook is started: a program and its arguments. */
export function hookCommand(home: Home, node: string, registration: string): string[] {
  return [node, ...hookArguments(home.hook, registration, home.root)];
}
