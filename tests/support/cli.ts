/** Runs our command inside the test's own process, against a home that is there already. */
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run } from '../../cli/run.ts';

export interface Ran {
  code: number;
  out: string;
  err: string;
  /** stdout as JSON. */
  json(): unknown;
}

export async function runCommand(argv: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<Ran> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const said = Promise.all([text(stdout), text(stderr)]);
  const signal = new AbortController().signal;
  const code = await run(argv, {
    stdin: Readable.from([]),
    stdout,
    stderr,
    env,
    cwd,
    clock: Date.now,
    signal,
  });
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { code, out, err, json: () => JSON.parse(out) };
}
