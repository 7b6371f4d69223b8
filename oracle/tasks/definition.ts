import { z } from 'zod';
import { DEFAULT_DENYLIST } from './denied.ts';

/** A shell line for `/bin/sh -c`, or a program and its arguments. */
const Command = z.union([z.string().min(1), z.array(z.string()).min(1)], {
  error: 'must be a shell line, or a list of a program and its arguments',
});
export type Command = z.infer<typeof Command>;

/** Safe as a directory's name, in a URL and in a log line. */
export const TaskId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'must be letters, digits, dot, dash and underscore only');

const Globs = z.array(z.string().min(1));

/** What writes the tests' results, and in which form the container runner asks for them. */
const FRAMEWORKS = ['pytest', 'unittest', 'node:test', 'vitest', 'jest', 'go', 'cargo', 'junit'] as const;
export type Framework = (typeof FRAMEWORKS)[number];

/** By a registry's digest or by an image id: a tag could be another image tomorrow. */
const Image = z
  .string()
  .regex(
    /^(?:[a-z0-9][a-z0-9._:/-]*@)?sha256:[0-9a-f]{64}$/,
    'must name an image by its digest (name@sha256:…) or its id (sha256:…)',
  );

const Limits = z.strictObject({
  /** tmpfs counts as memory; there is no swap. */
  memory_mb: z.number().int().min(32),
  cpus: z.number().positive(),
  pids: z.number().int().min(4),
});
export type Limits = z.infer<typeof Limits>;

/** What a container may take where its task does not say. */
export const DEFAULT_LIMITS: Limits = { memory_mb: 1024, cpus: 1, pids: 256 };

/** A check that is recorded with a verdict (chapter 4, "soft oracles"); it decides only when the task says so. */
export const Signal = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be small letters, digits, dash and underscore'),
  kind: z.enum(['type_check', 'lint', 'build', 'property', 'differential', 'migration']),
  command: Command,
  decides: z.boolean().default(false),
});
export type Signal = z.infer<typeof Signal>;

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
  /** A diff that solves the task; never shown to an agent. Expected ids are read off its runs. */
  reference: z.string().min(1).nullable().default(null),
  /** A file with the ids that the hidden tests have to report, one a line. Null: those that the reference passes. */
  expected_ids: z.string().min(1).nullable().default(null),
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
  /** The runner that it is made for; null: whichever the oracle has. */
  runner: z.enum(['process', 'container']).nullable().default(null),
  image: Image.nullable().default(null),
  framework: z.enum(FRAMEWORKS).nullable().default(null),
  evidence: z.enum(['in_process', 'out_of_process']).default('in_process'),
  /** `out_of_process`: starts the code under test, which the hidden commands then talk to. */
  program: Command.nullable().default(null),
  /** Paths in the tree that graded code may write; everything else of it is read-only in a container. */
  writable_paths: Globs.nullable().default(null),
  limits: Limits.partial().nullable().default(null),
  signals: z.array(Signal).nullable().default(null),
  /** Every answer leaves when the longest run would have ended, so that its time tells nothing. */
  constant_time: z.boolean().nullable().default(null),
  /** Signed grades for one session. */
  max_attempts: z.number().int().min(1).max(20).default(6),
  /** Signed grades for one agent host and UTC day. */
  daily_cap: z.number().int().min(1).default(200),
});
export type TaskFile = z.infer<typeof TaskFile>;

/** Only the file has these: paths of its author's machine, and what is written out in full in the store. */
const OF_THE_FILE = { mirror: true, hidden_files: true, deny_defaults: true, reference: true } as const;

/** The task as the store keeps it: every default written out, so that a new release changes no task's meaning. */
export const TaskDefinition = TaskFile.omit(OF_THE_FILE).extend({
  v: z.literal(1),
  base_commit: z.string().regex(/^[0-9a-f]{40,64}$/),
  /** Every root that the base commit descends from, oldest first: the first one names the repository. */
  root_commits: z.array(z.string()).min(1),
  limits: Limits.nullable().default(null),
  /** Ids that the hidden tests have to report as passed; null before a check has found them, or without a framework. */
  expected_ids: z.array(z.string()).nullable().default(null),
  /** Where `expected_ids` is from: what a check read off the reference, the next one reads anew. */
  ids_from: z.enum(['file', 'reference']).nullable().default(null),
  /** Ids of the existing suite that passed in every baseline and reference run. */
  suite_ids: z.array(z.string()).nullable().default(null),
  /** Makes `tests_hash` say nothing to someone who guesses at the tests. */
  salt: z.string().regex(/^[0-9a-f]{32}$/),
});
export type TaskDefinition = z.infer<typeof TaskDefinition>;

/**
 * Writes an author's file out in full. Whatever a task of an earlier release does not have stays null, and so out
 * of its hash.
 * @param expectedIds what the file `expected_ids` names holds, or null.
 */
export function define(
  file: TaskFile,
  repository: { base_commit: string; root_commits: string[] },
  salt: string,
  expectedIds: string[] | null = null,
): TaskDefinition {
  const { mirror: _, hidden_files: __, reference: ___, deny_defaults, ...rest } = file;
  const denylist = [...new Set([...(deny_defaults ? DEFAULT_DENYLIST : []), ...file.denylist])];
  const limits = file.image === null ? null : { ...DEFAULT_LIMITS, ...file.limits };
  return {
    ...rest,
    ...repository,
    denylist,
    limits,
    expected_ids: expectedIds,
    ids_from: expectedIds === null ? null : 'file',
    suite_ids: null,
    salt,
    v: 1,
  };
}
