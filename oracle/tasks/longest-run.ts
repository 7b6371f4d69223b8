import type { TaskDefinition } from './definition.ts';

/** Stopping what hangs, and removing what it left, which no baseline shows. */
const SPARE_MS = 10_000;

/**
 * The longest a grade of a task can be made to take by the code that is graded, milliseconds: every command of the run,
 * of its control run and of the signals up to `timeout_s`; to make ready and remove, what two runs and a half of the
 * slower baseline took.
 */
export function longestRunMs({ timeout_s, hidden, signals }: TaskDefinition, baselineMs: number): number {
  const twice = (signals ?? []).filter(({ kind }) => kind === 'differential').length;
  const commands = 2 * (1 + hidden.length) + (signals ?? []).length + twice;
  return Math.ceil(commands * timeout_s * 1000 + 2.5 * baselineMs) + SPARE_MS;
}
