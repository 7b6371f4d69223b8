/** Where the process begins: the launcher (bin/flipstream.js) or `node cli/main.ts` in a checkout. */
import { EXIT } from './exit.ts';
import { run } from './run.ts';
import { stopSignal } from './stop.ts';

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const exit = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  clock: Date.now,
  signal: stopSignal(),
});
if (exit === EXIT.interrupted) process.exit(exit); // work that was left where it is would go on
process.exitCode = exit;
