/** What runs a task's commands over a tree: process.ts and container.ts do. */

import type { Dropped } from '../diff/filter.ts';
import type { ReportedTest } from '../evidence/report.ts';
import type { TaskDefinition } from '../tasks/definition.ts';
import type { HiddenFile } from '../tasks/tests-hash.ts';

export type RunnerKind = 'process' | 'container' | 'vm';

/** Everything a run needs, read before it begins. */
export interface RunJob {
  run_id: string;
  definition: TaskDefinition;
  hidden: readonly HiddenFile[];
  /** The oracle's own mirror of the task's repository: the base commit and its ancestors. */
  mirror: string;
  /** Null in baseline and control runs. */
  diff: Buffer | null;
  /** Shuffles the order of the tests where their framework can. */
  seed?: number;
  /** Every reported test is wanted, since a check learns from them; else those that decide are enough (kept.ts). */
  learns?: boolean;
  signal?: AbortSignal;
}

/** How one command ended. */
export interface Phase {
  name: string;
  exit: number | null;
  signal: string | null;
  timed_out: boolean;
  /** The program could not be started at all. */
  spawn_error: string | null;
  duration_ms: number;
  /** The first part of stdout and stderr; `output_bytes` counts all of it. */
  output: string;
  output_bytes: number;
  /** What the task's framework reported, once for each time; null: nothing that could be read. Without canaries. */
  tests?: ReportedTest[] | null;
  canaries?: ReportedTest[];
  /** Where more was reported than is kept: how much it was, and which expected ids were not in it. */
  cut?: { tests: number; canaries: number; missing: string[] };
  /** With a framework: what its report says. The exit code alone does not decide then. */
  verdict?: { passed: boolean; why: string };
}

/** Where an infrastructure fault lies; for people, in the private log. */
export type FaultClass =
  | 'git_unavailable'
  | 'mirror_unreadable'
  | 'disk_full'
  | 'daemon_down'
  | 'image_missing'
  | 'image_unusable'
  | 'engine_lost'
  | 'control_failed'
  | 'queue_full'
  | 'task_changed'
  | 'runner_failed';

/**
 * How a run ended. `fault` says that the machinery failed before any graded code started; what happened after
 * that is in `phases`, for `outcomeOf` to judge.
 */
export interface RunResult {
  /** Why the diff could not be graded at all (it does not parse, does not apply, changes what it may not). */
  refused: string | null;
  dropped: Dropped[];
  suite: Phase | null;
  hidden: Phase[];
  /** The disk was nearly full when the run ended: by the graded code or not, a control run tells. */
  low_disk: boolean;
  fault: { class: FaultClass; message: string } | null;
  /** Why this run's reports prove nothing, whatever they say: a canary that did not fail (judge.ts). */
  evidence_fault?: string | null;
  /** Id of the image that really ran; null without a container. */
  image?: string | null;
  /** Whether the code under test saw a wall clock that stands still. */
  clock?: 'constant' | 'real';
}

export interface Runner {
  readonly kind: RunnerKind;
  /** Version and settings: part of the cache key. */
  readonly version: string;
  /** Never rejects for anything the graded code did. @throws only when `signal` was aborted. */
  run(job: RunJob): Promise<RunResult>;
  /** Removes what a killed service left behind: processes, directories, containers. */
  sweep(): Promise<void>;
}

export const passed = (phase: Phase): boolean =>
  phase.verdict ? phase.verdict.passed && !abnormal(phase) : phase.exit === 0 && !abnormal(phase);

/**
 * Ended otherwise than by its own exit code: never ran, was killed (a shell then says 128 and the signal's number),
 * hung, or its shell found no program.
 * May be the graded code's doing or the machine's: a control run decides.
 */
export const abnormal = (phase: Phase): boolean =>
  phase.spawn_error !== null ||
  phase.timed_out ||
  phase.signal !== null ||
  phase.exit === 126 ||
  phase.exit === 127 ||
  (phase.exit ?? 0) > 128;
