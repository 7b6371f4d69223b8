import { spawn } from 'node:child_process';
import type { Command } from '../tasks/definition.ts';
import type { Phase } from './runner.ts';

/** Of one command's output this much is kept; the rest is counted and dropped. */
const OUTPUT_LIMIT = 256 * 1024;

/** After the command has ended, so long is waited for the rest of its output. */
const DRAIN_MS = 500;

export interface SpawnOptions {
  name: string;
  command: Command;
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
  signal?: AbortSignal;
}

/** Runs one command in a process group of its own; the whole group is gone when this resolves, however it ended. */
export function runPhase(options: SpawnOptions): Promise<Phase> {
  const [program = '', ...args] =
    typeof options.command === 'string' ? ['/bin/sh', '-c', options.command] : options.command;
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
    const kept: Buffer[] = [];
    const keep = (chunk: Buffer) => {
      const room = OUTPUT_LIMIT - phase.output_bytes;
      if (room > 0) kept.push(chunk.subarray(0, room));
      phase.output_bytes += chunk.length;
    };
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
      phase.output = Buffer.concat(kept).toString().toWellFormed();
      resolve(phase);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
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
