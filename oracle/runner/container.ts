import Docker from 'dockerode';
import { FlipstreamError } from '../../schemas/errors.ts';
import { unexpectedChange } from '../diff/apply.ts';
import { filterDiff, pathRule } from '../diff/filter.ts';
import type { Report } from '../evidence/report.ts';
import { sweepBoxes } from './box.ts';
import { pathsAtBase } from './checkout.ts';
import { type Loaded, type LoadJob, loadBox } from './container-load.ts';
import { runInBox } from './container-phase.ts';
import { faultOf } from './faults.ts';
import { ownerLives } from './owner.ts';
import { type PlannedPhase, planRun } from './phases.ts';
import type { RunJob, Runner, RunResult } from './runner.ts';

export interface ContainerRunnerOptions {
  /** Of this oracle: containers carry it, and a start sweeps what a killed service left. */
  oracleHost: string;
  /** Default: the engine's usual one. */
  socketPath?: string | undefined;
  /** An OCI runtime that the engine knows, such as gVisor's `runsc`. */
  runtime?: string | undefined;
}

export const DOCKER_SOCKET = '/var/run/docker.sock';

/** So long a lost engine is waited for before the run is given up, milliseconds. */
const ENGINE_PATIENCE_MS = 30_000;

/**
 * The runner with a boundary: two fresh containers a run, one for the suite and one for the hidden tests, without
 * network, capabilities or anything writable but memory (oracle-design, "How it runs").
 */
export function containerRunner(options: ContainerRunnerOptions): Runner {
  const docker = new Docker({ socketPath: options.socketPath ?? DOCKER_SOCKET });
  const runtime = options.runtime ?? null;
  const once = (job: RunJob) => runOnce(docker, { ...job, oracleHost: options.oracleHost, runtime });
  return {
    kind: 'container',
    version: `container/2 ${runtime ?? 'default'}`,
    async run(job) {
      const first = await once(job);
      if (first.fault?.class !== 'engine_lost') return first;
      // Graded code cannot take the engine from us, but whoever restarts it does: that says nothing of the code.
      await engineBack(docker, job.signal);
      return once(job);
    },
    async sweep() {
      try {
        await sweepBoxes(docker, options.oracleHost, ownerLives);
      } catch (error) {
        // Without an engine there is nothing to sweep; what it has kept ends by itself.
        if (faultOf(error).class !== 'daemon_down') throw error;
      }
    },
  };
}

async function engineBack(docker: Docker, signal: AbortSignal | undefined): Promise<void> {
  const end = performance.now() + ENGINE_PATIENCE_MS;
  while (performance.now() < end) {
    signal?.throwIfAborted();
    const back = await docker.ping().then(
      () => true,
      () => false,
    );
    if (back) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

interface OwnJob extends RunJob {
  oracleHost: string;
  runtime: string | null;
}

async function runOnce(docker: Docker, job: OwnJob): Promise<RunResult> {
  const result: RunResult = {
    ...{ refused: null, dropped: [], suite: null, hidden: [], low_disk: false, fault: null },
    ...{ evidence_fault: null, image: null, clock: 'real' },
  };
  const boxes: Promise<Loaded>[] = [];
  try {
    const { Id, Config } = await docker.getImage(imageOf(job)).inspect();
    result.image = Id;
    const diff = await filtered(job, result);
    if (result.refused !== null) return result;
    const plan = planRun(job);
    const load: LoadJob = {
      ...job,
      docker,
      image: Id,
      diff,
      volumes: Object.keys(Config.Volumes ?? {}),
      plan,
    };
    const hiddenPhases = plan.phases.filter(({ hidden }) => hidden);
    const suitePhases = plan.phases.filter(({ hidden }) => !hidden);
    // Both at once: the second is made ready while the first works.
    const [suite, hidden] = [loadBox(load, suitePhases), loadBox(load, hiddenPhases)];
    boxes.push(suite, hidden);
    const loaded = await Promise.all(boxes);
    const rule = pathRule(job.definition);
    result.refused =
      loaded.map(({ refused, raw }) => refused ?? unexpectedChange(raw, rule)).find(Boolean) ?? null;
    if (result.refused !== null) return result;
    result.clock = loaded[0]?.faketime == null ? 'real' : 'constant';
    const reports = new Map<string, Report>();
    const run = (box: Loaded, phases: PlannedPhase[]) =>
      runPhases(job, box, phases, result, reports, plan.reports);
    await run(await suite, suitePhases);
    void (await suite).box.close();
    await run(await hidden, hiddenPhases);
    // Its memory is free then for what reads the reports.
    void (await hidden).box.close();
    return await plan.judge(result, reports);
  } catch (error) {
    job.signal?.throwIfAborted();
    const fault = faultOf(error);
    // It answered when this run began, so it was lost while it worked.
    const lost = fault.class === 'daemon_down' && result.image !== null;
    return { ...result, suite: null, hidden: [], fault: lost ? { ...fault, class: 'engine_lost' } : fault };
  } finally {
    const opened = await Promise.allSettled(boxes);
    await Promise.all(opened.map(async (one) => one.status === 'fulfilled' && (await one.value.box.close())));
  }
}

function imageOf({ definition }: RunJob): string {
  if (definition.image) return definition.image;
  throw new FlipstreamError(
    'image_unusable',
    'retryable',
    `task ${definition.task_id} names no image, and the container runner needs one: set "image" in task.json`,
  );
}

/** Cuts the diff down to what may be graded; this host only parses it. */
async function filtered(job: OwnJob, result: RunResult): Promise<Buffer | null> {
  if (!job.diff) return null;
  const base = await pathsAtBase(job.mirror, job.definition.base_commit);
  const cut = filterDiff(job.diff, job.definition, (path) => base.has(path));
  if ('unparseable' in cut) {
    result.refused = `the diff cannot be parsed: ${cut.unparseable}`;
    return null;
  }
  result.dropped = cut.dropped;
  return cut.kept.length > 0 ? cut.kept : null;
}

async function runPhases(
  job: OwnJob,
  loaded: Loaded,
  phases: readonly PlannedPhase[],
  result: RunResult,
  reports: Map<string, Report>,
  hasReports: boolean,
): Promise<void> {
  for (const [at, planned] of phases.entries()) {
    const { phase, report, lost } = await runInBox(job, loaded, planned, at, hasReports);
    if (lost !== null) throw new FlipstreamError('engine_lost', 'retryable', `${planned.name}: ${lost}`);
    reports.set(planned.name, report);
    if (planned.hidden) result.hidden.push(phase);
    else result.suite = phase;
  }
}
