import { APPLY_CPU_S } from '../diff/apply.ts';
import { READ_LIMIT_MS } from '../evidence/judge-apart.ts';
import type { TaskDefinition } from './definition.ts';

/** Stopping what hangs, and removing what it left, which no baseline shows. */
const SPARE_MS = 10_000;

/** A diff is put into two trees, checked and applied twice in each. */
const APPLY_MS = 2 * 4 * APPLY_CPU_S * 1000;

/**
 * The longest a grade of a task can be made to take by the code that is graded, milliseconds: every command of the run,
 * of its control run and of the signals up to `timeout_s`, applying the diff and reading what tests report up to their
 * limits; to make ready and remove, what two runs and a half of the slower baseline took.
 */
export function longestRunMs(task: TaskDefinition, baselineMs: number): number {
  const { timeout_s, hidden, signals, limits, framework } = task;
  const all = signals ?? [];
  const twice = all.filter(({ kind }) => kind === 'differential').length;
  const commands = 2 * (1 + hidden.length) + all.length + twice;
  const applying = ((all.length > 0 ? 2 : 1) * APPLY_MS) / Math.min(1, limits?.cpus ?? 1);
  const reading = framework === null ? 0 : READ_LIMIT_MS;
  return Math.ceil(commands * timeout_s * 1000 + applying + reading + 2.5 * baselineMs) + SPARE_MS;
}
