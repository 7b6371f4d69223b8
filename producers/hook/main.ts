import { writeSync } from 'node:fs';
import { hasCode } from '../../schemas/errors.ts';
import { readEnvironment } from './env.ts';
import { guard } from './guard.ts';
import { type Hook, option, startHook } from './run.ts';
import { readStdin } from './stdin.ts';

const argv = process.argv.slice(2);
// `performance` knows it better and costs 2 ms to load
const startedAt = Date.now() - process.uptime() * 1000;
let hook: Hook | null = null;
const { end, within } = guard(process, startedAt, () => hook?.giveUp());

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
  hook = startHook({
    environment: readEnvironment(option(argv, '--home')),
    argv,
    cwd: whereWeRun,
    read: (options) => readStdin(() => process.stdin, options),
    print,
    now: Date.now,
    startedAt,
    budget: within,
  });
  hook.done.then(end);
} catch {
  end();
}
