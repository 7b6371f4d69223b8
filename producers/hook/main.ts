import { writeSync } from 'node:fs';
import { hasCode } from '../../schemas/errors.ts';
import { readEnvironment } from './env.ts';
import { option, runHook } from './run.ts';
import { readStdin } from './stdin.ts';

/** Until the event is known. */
const FIRST_BUDGET_MS = 8_000;

/** Whatever happens: exit 0, and nothing on stdout that was not meant for the harness. */
function finish(): never {
  process.exit(0);
}

const argv = process.argv.slice(2);
let alarm = setTimeout(finish, FIRST_BUDGET_MS);
process.on('uncaughtException', finish);
process.on('unhandledRejection', finish);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, finish);

/** Straight to the descriptor, and whole, since process.exit waits for no stream. */
function print(text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0, tries = 0; at < bytes.length && tries < 1000; tries++) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (!hasCode(error, 'EAGAIN')) return;
    }
  }
}

function whereWeRun(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

try {
  runHook({
    environment: readEnvironment(option(argv, '--home')),
    argv,
    cwd: whereWeRun,
    read: (options) => readStdin(() => process.stdin, options),
    print,
    now: Date.now,
    // `performance` knows it better and costs 2 ms to load
    startedAt: Date.now() - process.uptime() * 1000,
    budget: (ms) => {
      clearTimeout(alarm);
      alarm = setTimeout(finish, ms);
    },
  }).then(finish, finish);
} catch {
  finish();
}
