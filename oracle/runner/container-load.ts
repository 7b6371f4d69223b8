import { join } from 'node:path';
import type Docker from 'dockerode';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { DEFAULT_LIMITS } from '../tasks/definition.ts';
import { type Box, LABEL, OWNER_LABEL, openBox } from './box.ts';
import { usableClock } from './clock.ts';
import type { ExecEnd } from './engine.ts';
import { DIFF, HIDDEN, LIBRARY, REPO, ROOT, TESTS_GROUP } from './layout.ts';
import { DIFF_REFUSED, loadScript, parseLoaded } from './load.ts';
import { ownerId } from './owner.ts';
import type { PlannedPhase, RunPlan } from './phases.ts';
import type { RunJob } from './runner.ts';
import { filesUnder, type TarFile, tarOf } from './tar.ts';

export interface LoadJob extends RunJob {
  docker: Docker;
  oracleHost: string;
  runtime: string | null;
  /** Id of the image. */
  image: string;
  volumes: readonly string[];
  plan: RunPlan;
}

export interface Loaded {
  box: Box;
  /** Why the diff cannot be graded, or null. */
  refused: string | null;
  /** What git says the diff changes. */
  raw: string;
  /** Path of libfaketime in the image, where it can be used; or null. */
  faketime: string | null;
  /** Whether the hidden tests and the code under test run apart. */
  apart: boolean;
}

const LOAD_TIMEOUT_MS = 300_000;

/** Longer than everything that may run in a container, seconds. */
const SPARE_LIFETIME_S = 600;

/**
 * A fresh container with tree, diff and, where they are to run, hidden tests in it; nothing of the task has run yet.
 * @throws FlipstreamError `image_unusable`, `engine_lost`, or what the client throws; nothing is left then.
 */
export async function loadBox(job: LoadJob, phases: readonly PlannedPhase[]): Promise<Loaded> {
  const { definition } = job;
  const box = await openBox(job.docker, {
    image: job.image,
    labels: { [LABEL]: job.oracleHost, [OWNER_LABEL]: ownerId() },
    limits: definition.limits ?? DEFAULT_LIMITS,
    runtime: job.runtime,
    lifetimeS: Math.ceil(definition.timeout_s * phases.length + LOAD_TIMEOUT_MS / 1000 + SPARE_LIFETIME_S),
    volumes: job.volumes,
  });
  try {
    const hidden = phases.some((phase) => phase.hidden) ? job.plan.hidden : [];
    const apart = hidden.length > 0 && definition.program !== null;
    const script = loadScript({
      baseCommit: definition.base_commit,
      withDiff: job.diff !== null,
      hidden: hidden.map(({ path }) => path),
      apart,
      writable: definition.writable_paths ?? [],
      homes: phases.map((_, at) => `tests-${at}`),
      programHomes: apart ? phases.map((_, at) => `code-${at}`) : [],
    });
    const files: TarFile[] = [
      ...(await repositoryFiles(job)),
      ...Object.entries(job.plan.library).map(([name, source]) =>
        file(join(LIBRARY, name), Buffer.from(source)),
      ),
      ...(job.diff ? [file(DIFF, job.diff)] : []),
      ...hidden.map(({ path, content, executable }) =>
        file(join(HIDDEN, path), content, executable ? 0o755 : 0o644),
      ),
    ];
    const end = await box.exec({
      argv: ['/bin/sh', '-c', script],
      user: `${ROOT}:${TESTS_GROUP}`,
      cwd: '/',
      env: {},
      input: tarOf(files),
      timeoutMs: LOAD_TIMEOUT_MS,
      outputMax: 64 * 2 ** 20,
      signal: job.signal,
    });
    if (end.exit !== 0 && !end.timed_out && (await box.wasTaken()))
      throw new FlipstreamError(
        'engine_lost',
        'retryable',
        'the container was taken away while it was loaded',
      );
    const loaded = readEnd(end, job.diff !== null);
    const faketime = await usableClock(box, job.image, definition, loaded.faketime);
    return { box, apart, ...loaded, faketime };
  } catch (error) {
    await box.close();
    throw error;
  }
}

/** What is reachable in the container: the mirror's objects, so the base commit and its ancestors. */
async function repositoryFiles({ mirror, definition }: RunJob): Promise<TarFile[]> {
  const { base_commit } = definition;
  const format = base_commit.length === 64 ? '[extensions]\n\tobjectFormat = sha256\n' : '';
  const version = format === '' ? 0 : 1;
  const config = `[core]\n\trepositoryformatversion = ${version}\n\tbare = false\n\tlogAllRefUpdates = false\n${format}`;
  try {
    return [
      file(join(REPO, '.git', 'HEAD'), Buffer.from(`${base_commit}\n`)),
      file(join(REPO, '.git', 'config'), Buffer.from(config)),
      file(join(REPO, '.git', 'refs', '.keep'), Buffer.alloc(0)),
      ...(await filesUnder(join(mirror, 'objects'), inWork(join(REPO, '.git', 'objects')))),
    ];
  } catch (cause) {
    throw new FlipstreamError('mirror_unreadable', 'retryable', `${mirror}: ${messageOf(cause)}`, cause);
  }
}

/** The tar is unpacked in /work. */
const inWork = (path: string) => path.replace(/^\/work\//, '');

const file = (path: string, content: Buffer, mode = 0o644): TarFile => ({
  path: inWork(path),
  content,
  mode,
});

function readEnd(end: ExecEnd, withDiff: boolean): Pick<Loaded, 'refused' | 'raw' | 'faketime'> {
  const { faketime, ready, raw } = parseLoaded(Buffer.from(end.stdout).toString('latin1'));
  const why = end.stderr.trim();
  if (end.exit === 0) return { refused: null, raw, faketime };
  if (end.lost !== null) throw new FlipstreamError('engine_lost', 'retryable', end.lost);
  const shown = end.timed_out ? 'it took too long' : why || end.refused || `it ended with ${end.exit}`;
  if (end.exit === DIFF_REFUSED) return { refused: `the diff does not apply: ${why}`, raw, faketime };
  // The tree is there, so all that is left is what the diff makes of it: too large, or too slow.
  if (ready && withDiff) return { refused: `the diff cannot be put in place: ${shown}`, raw, faketime };
  throw new FlipstreamError(
    'image_unusable',
    'retryable',
    `the tree could not be put into the container: ${shown}`,
  );
}
