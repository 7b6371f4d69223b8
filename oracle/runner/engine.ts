import type { Duplex, Readable } from 'node:stream';
import type Docker from 'dockerode';
import { z } from 'zod';
import { bounded, OUTPUT_LIMIT, REPORT_LIMIT } from './spawn.ts';

export interface ExecOptions {
  argv: readonly string[];
  /** `uid:gid` */
  user: string;
  cwd: string;
  env: Record<string, string>;
  /** Given to its stdin. */
  input?: Readable;
  timeoutMs: number;
  /** Beyond so much of either stream together the command is stopped, bytes. */
  outputMax: number;
  signal?: AbortSignal | undefined;
}

/** How a command in a container ended, as the engine says. */
export interface ExecEnd {
  exit: number | null;
  timed_out: boolean;
  /** Stopped, since it printed too much. */
  flooded: boolean;
  /** The engine could not start it: what it says. */
  refused: string | null;
  /** The engine was gone before it told the end. */
  lost: string | null;
  stdout: string;
  stderr: string;
  bytes: number;
  duration_ms: number;
}

const HttpError = z.looseObject({ statusCode: z.number() });

/** Whether the engine answered, though with a refusal; otherwise it could not be reached. */
export function httpStatus(error: unknown): number | null {
  return HttpError.safeParse(error).data?.statusCode ?? null;
}

/**
 * Runs one command in a running container.
 * @param kill ends the whole container: on timeout, flood or abort.
 * @throws only when `signal` was aborted.
 */
export async function execIn(
  container: Docker.Container,
  kill: () => void,
  options: ExecOptions,
): Promise<ExecEnd> {
  const started = performance.now();
  const out = bounded(REPORT_LIMIT);
  const err = bounded(OUTPUT_LIMIT);
  const end: ExecEnd = {
    ...{ exit: null, timed_out: false, flooded: false, refused: null, lost: null },
    ...{ stdout: '', stderr: '', bytes: 0, duration_ms: 0 },
  };
  options.signal?.addEventListener('abort', kill);
  if (options.signal?.aborted) kill();
  const timer = setTimeout(() => {
    end.timed_out = true;
    kill();
  }, options.timeoutMs);
  const keep = (stream: typeof out) => (chunk: Buffer) => {
    stream.add(chunk);
    if (end.flooded || out.bytes() + err.bytes() <= options.outputMax) return;
    end.flooded = true;
    kill();
  };
  try {
    const exec = await container.exec({
      Cmd: [...options.argv],
      User: options.user,
      WorkingDir: options.cwd,
      Env: Object.entries(options.env).map(([name, value]) => `${name}=${value}`),
      AttachStdin: options.input !== undefined,
      AttachStdout: true,
      AttachStderr: true,
    });
    const socket = await exec.start({ hijack: true, stdin: options.input !== undefined });
    await drain(socket, options.input, keep(out), keep(err));
    end.exit = await exitOf(exec);
  } catch (error) {
    const why = error instanceof Error ? error.message.trim() : String(error);
    if (httpStatus(error) === null) end.lost = why;
    else end.refused = why;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', kill);
  }
  options.signal?.throwIfAborted();
  end.duration_ms = Math.round(performance.now() - started);
  return { ...end, stdout: out.text(), stderr: err.text(), bytes: out.bytes() + err.bytes() };
}

/** Resolves when the engine has closed the stream. @throws what it was cut with. */
async function drain(
  socket: Duplex,
  input: Readable | undefined,
  stdout: (chunk: Buffer) => void,
  stderr: (chunk: Buffer) => void,
): Promise<void> {
  const split = demultiplexer(stdout, stderr);
  const closed = new Promise<void>((resolve, reject) => {
    socket.on('data', split);
    socket.once('end', resolve);
    socket.once('close', resolve);
    socket.once('error', reject);
    input?.once('error', reject);
  });
  // A command may end before it has read everything.
  input?.pipe(socket);
  try {
    await closed;
  } finally {
    input?.destroy();
    socket.destroy();
  }
}

const HEADER = 8;

/**
 * Splits the engine's stream: 8 bytes say which stream and how much, then comes that much. Not the client library's
 * own, which calls itself for each piece: what prints one byte at a time would overflow its stack.
 */
export function demultiplexer(
  stdout: (chunk: Buffer) => void,
  stderr: (chunk: Buffer) => void,
): (chunk: Buffer) => void {
  let header = Buffer.alloc(0);
  let left = 0;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (left === 0) {
        const more = chunk.subarray(at, at + HEADER - header.length);
        header = Buffer.concat([header, more]);
        at += more.length;
        if (header.length < HEADER) return;
        left = header.readUInt32BE(4);
        if (left === 0) header = Buffer.alloc(0);
        continue;
      }
      const piece = chunk.subarray(at, at + left);
      (header[0] === 1 ? stdout : stderr)(piece);
      at += piece.length;
      left -= piece.length;
      if (left === 0) header = Buffer.alloc(0);
    }
  };
}

const POLLS = 100;

/** The stream closes a moment before the engine knows the status. */
async function exitOf(exec: Docker.Exec): Promise<number | null> {
  for (let poll = 0; poll < POLLS; poll++) {
    const { Running, ExitCode } = await exec.inspect();
    if (!Running) return ExitCode;
    await new Promise((resolve) => setTimeout(resolve, Math.min(100, 5 * (poll + 1))));
  }
  return null;
}
