import { z } from 'zod';
import { DEFAULT_DENYLIST } from './denied.ts';

/** A shell line for `/bin/sh -c`, or a program and its arguments. */
const Command = z.union([z.string().min(1), z.array(z.string()).min(1)]);
export type Command = z.infer<typeof Command>;

/** Safe as a directory's name, in a URL and in a log line. */
export const TaskId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'letters, digits, dot, dash and underscore only');

const Globs = z.array(z.string().min(1));

/** task.json as its author writes it. Paths are relative to its directory. */
export const TaskFile = z.strictObject({
  task_id: TaskId,
  /** The repository, bare or not; the oracle copies the base commit and its ancestors out of it. */
  mirror: z.string().min(1),
  base_commit: z.string().min(4),
  /** The existing suite: has to pass at the base commit. */
  suite: Command,
  /** The hidden tests: have to fail at the base commit. Each command runs in a tree and a process group of its own. */
  hidden: z.array(Command).min(1),
  /** Copied over the tree before the hidden commands run. */
  hidden_files: z.string().default('hidden'),
  /** What a diff may change. Without it nothing could be graded. */
  allowlist: Globs.min(1),
  /** Denied beside the defaults. */
  denylist: Globs.default([]),
  /** Set to false to deny only `denylist`. */
  deny_defaults: z.boolean().default(true),
  /** Names of installed packages that no new module may stand in front of. */
  shadow_names: z.array(z.string()).default([]),
  /** Wall clock of one command. */
  timeout_s: z.number().positive().max(3600).default(300),
  split: z.string().min(1).default('train'),
  family: z.string().min(1).nullable().default(null),
  image: z.null().default(null),
  evidence: z.enum(['in_process', 'out_of_process']).default('in_process'),
  /** Signed grades for one session. */
  max_attempts: z.number().int().min(1).max(20).default(6),
  /** Signed grades for one agent host and UTC day. */
  daily_cap: z.number().int().min(1).default(200),
});
export type TaskFile = z.infer<typeof TaskFile>;

/** The task as the store keeps it: every default written out, so that a new release changes no task's meaning. */
export const TaskDefinition = TaskFile.omit({ mirror: true, hidden_files: true, deny_defaults: true }).extend(
  {
    v: z.literal(1),
    base_commit: z.string().regex(/^[0-9a-f]{40,64}$/),
    /** Every root that the base commit descends from, oldest first: the first one names the repository. */
    root_commits: z.array(z.string()).min(1),
    /** Makes `tests_hash` say nothing to someone who guesses at the tests. */
    salt: z.string().regex(/^[0-9a-f]{32}$/),
  },
);
export type TaskDefinition = z.infer<typeof TaskDefinition>;

/** Writes an author's file out in full. */
export function define(
  file: TaskFile,
  repository: { base_commit: string; root_commits: string[] },
  salt: string,
): TaskDefinition {
  const { mirror: _, hidden_files: __, deny_defaults, ...rest } = file;
  const denylist = [...new Set([...(deny_defaults ? DEFAULT_DENYLIST : []), ...file.denylist])];
  return { ...rest, ...repository, denylist, salt, v: 1 };
}
