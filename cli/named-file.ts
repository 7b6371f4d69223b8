import { readFileSync, statSync } from 'node:fs';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * The text of a file that was named on the command line, which may be a pipe, as `<(…)` makes one. Whoever writes to it
 * may never come, and reading holds up the process, in which our handlers (stop.ts) cannot run then: meanwhile a
 * signal ends the process by itself.
 * @throws the system's error when it cannot be read
 */
export function readNamed(path: string): string {
  if (statSync(path).isFile()) return readFileSync(path, 'utf8');
  const held = SIGNALS.map((signal) => ({ signal, handlers: process.listeners(signal) }));
  for (const { signal, handlers } of held) for (const each of handlers) process.off(signal, each);
  try {
    return readFileSync(path, 'utf8');
  } finally {
    for (const { signal, handlers } of held) for (const each of handlers) process.on(signal, each);
  }
}
