import { spawn } from 'node:child_process';
import type { Phase } from './runner.ts';

/** Of one command's output this much is kept; the rest is counted and dropped. */
export const OUTPUT_LIMIT = 256 * 1024;

/** A report that is longer is cut, and so cannot be read. */
export const REPORT_LIMIT = 16 * 2 ** 20;

/** After the command has ended, so long is waited for the rest of its output. */
const DRAIN_MS = 500;

export interface SpawnOptions {
  name: string;
  argv: readonly string[];
  /** Whether stdout is a report: it is kept whole, and stands at the end of the output. */
  reports: boolean;
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
  signal?: AbortSignal;
}

/** Runs one command in a process group of its own; the whole group is gone when this resolves, however it ended. */
export function runPhase(options: SpawnOptions): Promise<{ phase: Phase; report: string }> {
  const [program = '', ...args] = options.argv;
  const started = performance.now();
  const phase: Phase = {
    name: options.name,
    exit: null,
    signal: null,
    timed_out: false,
    spawn_error: null,
    duration_ms: 0,
    output: '',
    output_bytes: 0,
  };
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = bounded(OUTPUT_LIMIT);
    const report = bounded(REPORT_LIMIT);
    const killGroup = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The group is gone already.
      }
    };
    const timer = setTimeout(() => {
      phase.timed_out = true;
      killGroup();
    }, options.timeoutMs);
    options.signal?.addEventListener('abort', killGroup);
    if (options.signal?.aborted) killGroup();
    let over = false;
    let drained: NodeJS.Timeout | undefined;
    const finish = () => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      clearTimeout(drained);
      options.signal?.removeEventListener('abort', killGroup);
      killGroup();
      child.stdout.destroy();
      child.stderr.destroy();
      phase.duration_ms = Math.round(performance.now() - started);
      phase.output_bytes = output.bytes() + report.bytes();
      // Some frameworks say there, and nowhere else, why a test failed or did not compile.
      const text = report.text();
      output.add(Buffer.from(text.slice(0, OUTPUT_LIMIT)));
      phase.output = output.text();
      resolve({ phase, report: text });
    };
    child.stdout.on('data', options.reports ? report.add : output.add);
    child.stderr.on('data', output.add);
    child.on('error', (error) => {
      phase.spawn_error = error.message;
      finish();
    });
    child.on('close', finish);
    // Not 'close' alone: a process that left the group holds the pipes open, and the grade would wait for it.
    child.on('exit', (code, signal) => {
      phase.exit = code;
      phase.signal = signal;
      killGroup();
      drained = setTimeout(finish, DRAIN_MS);
    });
  });
}

export interface Bounded {
  add(chunk: Buffer): void;
  /** How much was added in all. */
  bytes(): number;
  text(): string;
}

/** Keeps the first `limit` bytes of what is added, and counts all. */
export function bounded(limit: number): Bounded {
  const kept: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk) {
      if (bytes < limit) kept.push(chunk.subarray(0, limit - bytes));
      bytes += chunk.length;
    },
    bytes: () => bytes,
    text: () => Buffer.concat(kept).toString().toWellFormed(),
  };
}
