import { randomUUID } from 'node:crypto';
import { FlipstreamError } from '../../schemas/errors.ts';
import { isoTime } from '../../schemas/time.ts';
import type { Oracle } from '../oracle.ts';
import { queueTask } from '../outbox.ts';
import { logRun } from '../private-log.ts';
import { runTask } from '../run-task.ts';
import { outcomeOf } from '../runner/outcome.ts';
import { passed, type RunResult } from '../runner/runner.ts';
import { runSignals } from '../signals/run-signals.ts';
import { signBaseline } from './baseline.ts';
import type { TaskDefinition } from './definition.ts';
import { longestRunMs } from './longest-run.ts';
import { differing, observe, type Runs, skippedWith } from './observed.ts';
import { fixInImage, type Refused, refusedReference, unsearched } from './reference.ts';
import { publicTask, putTaskRow, type TaskRow, uncheckedRow } from './rows.ts';
import { knownTask, type StoredTask, storeTask } from './store.ts';
import { testsHash } from './tests-hash.ts';
import { hangs, type Objection, objection } from './verify.ts';

/** A task whose answers differ is not fit for an oracle (chapter 3): twice is the least that shows it. */
const DEFAULT_RUNS = 2;

export interface CheckOptions {
  /** How often baseline and reference are run, in another order of tests each time; 2 by default. */
  runs?: number;
  /** Why a failure that looks wrong, or a suite of which nothing holds, is right all the same. */
  accept?: string;
}

export interface CheckReport {
  row: TaskRow;
  /** What the reason of a quarantine leaves out, since that is published; never leaves the oracle's side. */
  detail: string | null;
  /** How the hidden tests fail at the base commit, for a person to read; never leaves the oracle's side. */
  failure: string;
  /** Ids that did not end the same every time. */
  differing: string[];
  /** Ids of hidden tests that are skipped with the reference: no grade asks for them. */
  skipped: string[];
  /** The image was not searched for the fix, of which no line is telling. */
  unsearched: boolean;
  /** With `constant_time`: how long after its run began every answer leaves, milliseconds. */
  constant_ms: number | null;
}

/**
 * `oracle task check`: runs baseline and reference N times each. Every time the suite has to pass, the hidden tests
 * have to fail at the base, for a right reason, and to pass with the reference; then the task is ready and its
 * baseline is signed. Otherwise it is quarantined, with the reason.
 * @throws FlipstreamError `task_unknown`, `reference_missing` (usage); `baseline_error` (retryable) when the machine
 * failed: the task then stays as it was, since that says nothing about it.
 */
export async function taskCheck(
  oracle: Oracle,
  taskId: string,
  { runs: times = DEFAULT_RUNS, accept }: CheckOptions = {},
): Promise<CheckReport> {
  const task = unlearned(knownTask(oracle, taskId));
  requireExpectation(task);
  const refused = await refusedReference(task);
  if (refused) {
    logRefused(oracle, task, refused);
    return report(oracle, task, null, refused.objection);
  }
  const baseline = await repeat(oracle, task, 'baseline', times);
  const reference = task.reference ? await repeat(oracle, task, 'reference', times) : null;
  const first = { baseline: baseline.results, reference: reference?.results ?? [] };
  const early = objection(first);
  if (early && !(early.acceptable && accept !== undefined))
    return report(oracle, withIds(task, first), first, early);
  const { runs, confirmed } = await confirm(oracle, task, first);
  const found = objection(runs) ?? (confirmed ? await fixInImage(oracle, task) : UNCONFIRMED);
  const learned = withIds(task, runs);
  if (found && !(found.acceptable && accept !== undefined)) return report(oracle, learned, runs, found);
  return report(oracle, learned, runs, null, {
    baseline_ms: baseline.slowest,
    accepted: accept ?? null,
    hangs: Number(runs.baseline.some(hangs)),
  });
}

/** What the check before read off the reference is no part of this one. */
function unlearned(task: StoredTask): StoredTask {
  const { ids_from, expected_ids } = task.definition;
  const ids = ids_from === 'file' ? expected_ids : null;
  return withDefinition(task, { ...task.definition, expected_ids: ids, suite_ids: null });
}

function withDefinition(task: StoredTask, definition: TaskDefinition): StoredTask {
  return { ...task, definition, tests_hash: testsHash(definition, task.hidden) };
}

function withIds(task: StoredTask, runs: Runs): StoredTask {
  const { suite_ids, expected_ids } = observe(runs);
  const { definition } = task;
  const ids =
    definition.ids_from === 'file' || expected_ids === null
      ? {}
      : { expected_ids, ids_from: 'reference' as const };
  return withDefinition(task, { ...definition, suite_ids, ...ids });
}

/** Without something that says which tests there must be, an absent one would be no failure. */
function requireExpectation({ definition, reference }: StoredTask): void {
  const { task_id, framework, image, expected_ids } = definition;
  const known = reference !== null || expected_ids !== null;
  if (framework === null ? image === null : known) return;
  const why = framework === null ? 'is graded in containers' : 'names a framework';
  const missing = framework === null ? '`framework`, and ' : '';
  throw new FlipstreamError(
    'reference_missing',
    'usage',
    `task ${task_id} ${why}, so it needs to know which tests must pass: give ${missing}\`reference\` (a diff that solves it) or \`expected_ids\` (a file, one id a line) in task.json, and add it again`,
  );
}

/** A reference that is not run has its line in the private log all the same. */
function logRefused(oracle: Oracle, task: StoredTask, { objection, dropped }: Refused): void {
  const { tests_hash, definition } = task;
  const nothing = { suite: null, hidden: [], low_disk: false, fault: null };
  logRun(oracle, {
    ...{ run_id: randomUUID(), kind: 'reference', code: 'FAIL', reason: objection.detail, tests_hash },
    ...{ principal: null, request_id: null, session_id: null, diff_hash: null, diff_missing: null },
    task_id: definition.task_id,
    at: isoTime(oracle.clock()),
    runner: oracle.runner.version,
    result: { ...nothing, refused: objection.detail, dropped },
  });
}

async function repeat(
  oracle: Oracle,
  task: StoredTask,
  kind: 'baseline' | 'reference',
  times: number,
): Promise<{ results: RunResult[]; slowest: number }> {
  const results: RunResult[] = [];
  let slowest = 0;
  for (let seed = 1; seed <= times; seed++) {
    const started = oracle.clock();
    results.push(await runOnce(oracle, task, kind, seed));
    // They take their time with every grade, and a FAIL must not leave sooner than one that ran them.
    if (kind === 'baseline') await runSignals(oracle, task, { kind: 'signal', diff: null });
    slowest = Math.max(slowest, Math.ceil(oracle.clock() - started));
  }
  return { results, slowest };
}

async function runOnce(
  oracle: Oracle,
  task: StoredTask,
  kind: 'baseline' | 'reference',
  seed?: number,
): Promise<RunResult> {
  const diff = kind === 'reference' ? task.reference : null;
  const result = await runTask(oracle, task, { kind, diff, seed });
  const { code, reason } = outcomeOf(result);
  if (code !== 'ERROR') return result;
  throw new FlipstreamError(
    'baseline_error',
    'retryable',
    `the ${kind} of ${task.definition.task_id} could not be run: ${reason}`,
  );
}

/** A test that fails now and then may show it only in a later run: so often the ids may still shrink. */
const CONFIRMATIONS = 3;

/**
 * One more run of the reference, held against the ids that were found, has to be the PASS that an agent would get. A
 * test of the suite that fails in it does not pass every time either, and the rest is tried once more.
 */
async function confirm(
  oracle: Oracle,
  task: StoredTask,
  found: Runs,
): Promise<{ runs: Runs; confirmed: boolean }> {
  let runs = found;
  if (!task.reference) return { runs, confirmed: true };
  for (let tries = 0; tries < CONFIRMATIONS; tries++) {
    const learned = withIds(task, runs);
    if (learned.tests_hash === task.tests_hash) return { runs, confirmed: true };
    const result = await runOnce(oracle, learned, 'reference', runs.reference.length + 1);
    if (outcomeOf(result).code === 'PASS') return { runs, confirmed: true };
    runs = { ...runs, reference: [...runs.reference, result] };
    if (withIds(task, runs).tests_hash === learned.tests_hash) break;
  }
  return { runs, confirmed: false };
}

const UNCONFIRMED: Objection = {
  reason: 'the reference is not graded PASS by the tests that it was seen to pass',
  acceptable: false,
};

function report(
  oracle: Oracle,
  task: StoredTask,
  runs: Runs | null,
  found: Objection | null,
  ready: Partial<TaskRow> = {},
): CheckReport {
  const { definition } = task;
  const row = oracle.db.transaction(() => {
    const checked_at = isoTime(oracle.clock());
    const row: TaskRow = {
      ...uncheckedRow(task),
      ...ready,
      status: found ? 'quarantined' : 'ready',
      reason: found?.reason ?? null,
      checked_at,
      baseline_id: found ? null : signBaseline(oracle, task, checked_at),
      suite_excluded: runs ? observe(runs).suite_excluded : null,
      reference_passed:
        task.reference && runs ? Number(runs.reference.every((run) => run.hidden.every(passed))) : null,
    };
    storeTask(oracle, task);
    putTaskRow(oracle.db, row);
    queueTask(oracle.db, publicTask(row, definition, oracle.runner.kind));
    return row;
  });
  return {
    row,
    detail: found?.detail ?? null,
    failure: runs ? failureOf(runs.baseline[0]) : '',
    differing: runs ? [...new Set([...differing(runs.baseline), ...differing(runs.reference)])] : [],
    skipped: runs && task.definition.ids_from === 'reference' ? skippedWith(runs.reference) : [],
    unsearched: unsearched(oracle, task),
    constant_ms: definition.constant_time ? longestRunMs(definition, row.baseline_ms) : null,
  };
}

/** Characters of a test's output that are shown, from both ends. */
const SHOWN = 4000;

function cut(output: string): string {
  const text = output.trim();
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN / 2)}\n…\n${text.slice(-SHOWN / 2)}`;
}

function failureOf(run: RunResult | undefined): string {
  return (run?.hidden ?? [])
    .filter((phase) => !passed(phase))
    .map(({ name, output }) => `${name}:\n${cut(output)}`)
    .join('\n\n');
}
