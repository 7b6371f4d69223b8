/** Runs the command inside a test: own home, collected output, no process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { run } from './run.ts';

interface Ran {
  code: number;
  out: string;
  err: string;
  /** stdout as JSON. */
  json(): unknown;
}

interface Person {
  /** What is typed, on a terminal when it is given. */
  stdin?: string;
  /** Aborted when the command is to stop. */
  signal?: AbortSignal;
}

export interface Sandbox {
  root: string;
  env: NodeJS.ProcessEnv;
  /** Runs a command line. */
  flipstream(argv: readonly string[], person?: string | Person): Promise<Ran>;
  remove(): void;
}

export function sandbox(): Sandbox {
  const root = mkdtempSync(join(tmpdir(), 'flipstream-cli-'));
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    FLIPSTREAM_HOME: join(root, 'home'),
    FLIPSTREAM_ORACLE_HOME: join(root, 'oracle'),
    CLAUDE_CONFIG_DIR: join(root, 'claude'),
  };
  const flipstream = async (argv: readonly string[], person: string | Person = {}): Promise<Ran> => {
    const { stdin, signal = new AbortController().signal } =
      typeof person === 'string' ? { stdin: person } : person;
    const out = collector();
    const err = collector();
    const code = await run(argv, {
      stdin:
        stdin === undefined
          ? Readable.from([])
          : Object.assign(new PassThrough({}).end(stdin), { isTTY: true }),
      stdout: out.stream,
      stderr: err.stream,
      env,
      cwd: root,
      clock: Date.now,
      signal,
    });
    return { code, out: out.text(), err: err.text(), json: () => JSON.parse(out.text()) };
  };
  return { root, env, flipstream, remove: () => rmSync(root, { recursive: true, force: true }) };
}

function collector(): { stream: Writable; text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer | string, _, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
