import type { Report } from '../evidence/report.ts';
import { clockEnvironment } from './clock.ts';
import type { Loaded } from './container-load.ts';
import { startProgram } from './container-program.ts';
import type { ExecEnd } from './engine.ts';
import { FIXED_ENVIRONMENT } from './fixed-environment.ts';
import { LIBRARY, REPO, scratchOf, TESTS, TESTS_GROUP, testsUser } from './layout.ts';
import type { PlannedPhase } from './phases.ts';
import type { Phase, RunJob } from './runner.ts';
import { bounded, OUTPUT_LIMIT } from './spawn.ts';

/** What a command prints beyond this stops it: bytes. */
const OUTPUT_MAX = 256 * 2 ** 20;

export interface RanPhase {
  phase: Phase;
  report: Report;
  /** The engine or the container was taken away meanwhile: what it says. */
  lost: string | null;
}

/** Runs one phase in a loaded container, under a user of its own, and beside it the program if they run apart. */
export async function runInBox(
  job: RunJob,
  loaded: Loaded,
  planned: PlannedPhase,
  at: number,
  hasReports: boolean,
): Promise<RanPhase> {
  const { box, apart } = loaded;
  const home = scratchOf(`tests-${at}`);
  const tree = apart ? TESTS : REPO;
  const scratch = `${home}/tmp`;
  const { argv, env } = planned.start({ lib: LIBRARY, report: `${home}/report`, scratch });
  const program = apart
    ? startProgram(job, loaded, at, (place) => environment(place, loaded.faketime))
    : null;
  const end = await box.exec({
    argv,
    user: `${testsUser(at)}:${TESTS_GROUP}`,
    cwd: tree,
    env: { ...environment(home, loaded.faketime), ...env },
    timeoutMs: job.definition.timeout_s * 1000,
    outputMax: OUTPUT_MAX,
    signal: job.signal,
  });
  const phase = phaseOf(planned.name, end, hasReports, (await program?.stop()) ?? '');
  const died =
    end.lost ?? (unexplained(end) && (await box.wasTaken()) ? 'the container was taken away' : null);
  return { phase, report: { text: end.stdout, tree }, lost: died };
}

/** Killed, and not by us. */
const unexplained = (end: ExecEnd) =>
  !end.timed_out && !end.flooded && (end.refused !== null || end.exit === 137);

function environment(home: string, faketime: string | null): Record<string, string> {
  return {
    ...FIXED_ENVIRONMENT,
    HOME: `${home}/home`,
    TMPDIR: `${home}/tmp`,
    // The tree belongs to another user, which git would find suspicious.
    ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' },
    ...clockEnvironment(faketime),
  };
}

function phaseOf(name: string, end: ExecEnd, hasReports: boolean, program: string): Phase {
  const output = bounded(OUTPUT_LIMIT);
  const parts = hasReports ? [end.stderr, end.stdout, program] : [end.stdout, end.stderr, program];
  for (const part of parts) output.add(Buffer.from(part.slice(0, OUTPUT_LIMIT)));
  return {
    name,
    exit: end.exit,
    signal: end.exit === 137 ? 'SIGKILL' : null,
    timed_out: end.timed_out,
    spawn_error: end.flooded ? 'it printed too much' : end.refused,
    duration_ms: end.duration_ms,
    output: output.text(),
    output_bytes: end.bytes,
  };
}
