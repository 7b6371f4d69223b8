import { availableParallelism, totalmem } from 'node:os';
import type { Limits } from '../tasks/definition.ts';
import type { Needs } from './queue.ts';

/** What a grade may take at most: its two containers are there at the same time, and one of them works. */
export function needsOf(limits: Limits | null): Needs {
  return limits ? { cpus: limits.cpus, memory_mb: 2 * limits.memory_mb } : { cpus: 0, memory_mb: 0 };
}

/** What this machine has for grades; a quarter of the memory is left to the engine, the service and everything else. */
export function machineRoom(): Needs {
  return { cpus: availableParallelism(), memory_mb: Math.floor((totalmem() * 0.75) / 2 ** 20) };
}
