import { cp, mkdir, mkdtemp, readdir, statfs, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FlipstreamError, hasCode, messageOf } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import { applyDiff } from '../diff/apply.ts';
import { filterDiff, pathRule } from '../diff/filter.ts';
import { RUN_PATH } from '../environment.ts';
import type { Report } from '../evidence/report.ts';
import { checkOut, pathsAtBase, placeHidden } from './checkout.ts';
import { FIXED_ENVIRONMENT } from './fixed-environment.ts';
import { planRun } from './phases.ts';
import { removeTree } from './remove-tree.ts';
import type { FaultClass, RunJob, Runner, RunResult } from './runner.ts';
import { runPhase } from './spawn.ts';
import { killStrays } from './stray.ts';

export interface ProcessRunnerOptions {
  /** Where run directories are made: `<prefix><pid>-XXXXXX`. Outside the oracle's home. */
  prefix: string;
  /** PATH of graded code. */
  path?: string;
  /** Below this much free disk a run does not begin. */
  minFreeBytes?: number;
}

/**
 * The runner for one machine without a container engine: convenience, no boundary. Graded code runs as the
 * oracle's own user and could read its files, so its key is good for nothing but `process` verdicts.
 */
export function processRunner(options: ProcessRunnerOptions): Runner {
  const path = options.path ?? RUN_PATH;
  return {
    kind: 'process',
    version: `process/1 node ${process.version} ${process.platform} ${path}`,
    async run(job) {
      const work = await mkdtemp(`${options.prefix}${process.pid}-`);
      try {
        return await runIn(work, job, path, options.minFreeBytes ?? 64 * 2 ** 20);
      } finally {
        killStrays(work);
        await removeTree(work);
      }
    },
    async sweep() {
      const parent = dirname(options.prefix);
      for (const name of await readdir(parent)) {
        if (
          !name.startsWith(basename(options.prefix)) ||
          !isDead(name.slice(basename(options.prefix).length))
        )
          continue;
        killStrays(join(parent, name));
        await removeTree(join(parent, name));
      }
    },
  };
}

/** Whether the process that made a run directory is gone: a check beside the service has directories too. */
function isDead(suffix: string): boolean {
  try {
    process.kill(Number.parseInt(suffix, 10), 0);
    return false;
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
}

async function runIn(work: string, job: RunJob, path: string, minFree: number): Promise<RunResult> {
  const result: RunResult = {
    refused: null,
    dropped: [],
    suite: null,
    hidden: [],
    low_disk: false,
    fault: null,
  };
  try {
    if (await isLow(work, minFree)) return fault(result, 'disk_full', `${work} has too little space left`);
    const tree = join(work, 'tree');
    await checkOut(job.mirror, job.definition.base_commit, tree);
    if (job.diff) result.refused = await applyFiltered(job, job.diff, tree, work, result);
  } catch (error) {
    return fault(result, classOf(error), messageOf(error));
  }
  if (result.refused !== null) return result;
  const plan = planRun(job);
  const reports = new Map<string, Report>();
  for (const planned of plan.phases) {
    const place = join(work, planned.name.replace(' ', '-'));
    try {
      await makePlace(work, place, plan.library);
      if (planned.hidden) placeHidden(join(place, 'repo'), plan.hidden);
    } catch (error) {
      return fault(result, classOf(error), messageOf(error));
    }
    const timeoutMs = job.definition.timeout_s * 1000;
    const scratch = join(place, 'tmp');
    const { argv, env } = planned.start({
      lib: join(place, 'lib'),
      report: join(scratch, 'report'),
      scratch,
    });
    const { phase, report } = await runPhase({
      name: planned.name,
      argv,
      reports: plan.reports,
      cwd: join(place, 'repo'),
      env: { ...environment(place, path), ...env },
      timeoutMs,
      signal: job.signal,
    });
    killStrays(work);
    job.signal?.throwIfAborted();
    await removeTree(place);
    reports.set(planned.name, { text: report, tree: join(place, 'repo') });
    if (planned.hidden) result.hidden.push(phase);
    else result.suite = phase;
  }
  result.low_disk = await isLow(work, minFree);
  return plan.judge(result, reports);
}

async function isLow(work: string, minFree: number): Promise<boolean> {
  const disk = await statfs(work);
  return disk.bavail * disk.bsize < minFree;
}

/** A fresh copy of the tree with a home and a temporary directory of its own: nothing one command leaves meets the next. */
async function makePlace(work: string, place: string, library: Record<string, string>): Promise<void> {
  makeFolder(join(place, 'home'), 0o777);
  await mkdir(join(place, 'tmp'));
  await mkdir(join(place, 'lib'));
  for (const [name, source] of Object.entries(library)) await writeFile(join(place, 'lib', name), source);
  await cp(join(work, 'tree'), join(place, 'repo'), { recursive: true, verbatimSymlinks: true });
}

function environment(place: string, path: string): Record<string, string> {
  return {
    ...FIXED_ENVIRONMENT,
    HOME: join(place, 'home'),
    TMPDIR: join(place, 'tmp'),
    PATH: path,
  };
}

async function applyFiltered(
  job: RunJob,
  diff: Buffer,
  tree: string,
  work: string,
  result: RunResult,
): Promise<string | null> {
  const base = await pathsAtBase(tree, job.definition.base_commit);
  const filtered = filterDiff(diff, job.definition, (path) => base.has(path));
  if ('unparseable' in filtered) return `the diff cannot be parsed: ${filtered.unparseable}`;
  result.dropped = filtered.dropped;
  return applyDiff(tree, work, filtered.kept, pathRule(job.definition));
}

function fault(result: RunResult, kind: FaultClass, message: string): RunResult {
  return { ...result, fault: { class: kind, message } };
}

function classOf(error: unknown): FaultClass {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (/ENOSPC|EDQUOT|no space left|disk quota/i.test(messageOf(error))) return 'disk_full';
  if (code === 'git_unavailable') return 'git_unavailable';
  return error instanceof FlipstreamError ? 'mirror_unreadable' : 'runner_failed';
}
