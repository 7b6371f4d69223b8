import type { Command, Framework } from '../tasks/definition.ts';
import { readCargoText } from './cargo-text.ts';
import { readGoJson } from './go-json.ts';
import { readJestJson } from './jest-json.ts';
import { readJsonLines } from './json-lines.ts';
import { readJunitXml } from './junit-xml.ts';
import type { ReadReport } from './report.ts';
import {
  JEST_RUNNER,
  NODE_REPORTER,
  PYTEST_MAIN,
  PYTEST_SETTINGS,
  RUN_BIN,
  UNITTEST_MAIN,
  VITEST_MARKER,
} from './reporters.ts';

/** Where things lie for one run of a framework, as the tests see them. */
export interface Place {
  /** Directory of our own programs, which nothing graded may write. */
  lib: string;
  /** Where the report is to be written. */
  report: string;
  /** A directory for what a framework has to write besides. */
  scratch: string;
}

/** How a framework is started, and how it is read. */
export interface Invocation {
  argv: string[];
  env: Record<string, string>;
}

interface Plan {
  start(targets: string[], place: Place, seed: number | undefined): Invocation;
  /** With `stdout`, what it prints is its report; else it writes the file. `both` is `stdout` with stderr in it. */
  report: 'file' | 'stdout' | 'both';
  read: ReadReport;
  /** How it ends when tests have failed, and all is well otherwise; null: anything but 0. */
  failedExit: number | null;
  /** Our own programs that it needs. */
  files: Record<string, string>;
}

const seeded = (seed: number | undefined, args: (seed: string) => string[]) =>
  seed === undefined ? [] : args(String(seed));

const jestLike = (
  bin: 'vitest' | 'jest',
  files: Record<string, string>,
  args: (place: Place) => string[],
  shuffle: (seed: string) => string[],
): Plan => ({
  start: (targets, place, seed) => ({
    argv: ['node', `${place.lib}/run-bin.mjs`, bin, ...args(place), ...seeded(seed, shuffle), ...targets],
    env: { CI: 'true' },
  }),
  report: 'file',
  read: readJestJson,
  failedExit: 1,
  files: { 'run-bin.mjs': RUN_BIN, ...files },
});

const python = (main: string, source: string, args: string[], files: Plan['files'] = {}): Plan => ({
  start: (targets, place, seed) => ({
    argv: ['python3', `${place.lib}/${main}`, ...args, ...targets],
    env: {
      ...(seed === undefined ? {} : { SEED: String(seed) }),
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONNOUSERSITE: '1',
    },
  }),
  report: 'file',
  read: readJsonLines,
  failedExit: 1,
  files: { [main]: source, ...files },
});

const PLANS: Record<Framework, Plan> = {
  pytest: python('pytest_main.py', PYTEST_MAIN, ['-p', 'no:cacheprovider', '--rootdir=.', '--confcutdir=.'], {
    'pytest.ini': PYTEST_SETTINGS,
  }),
  unittest: python('unittest_main.py', UNITTEST_MAIN, []),
  'node:test': {
    start: (targets, { lib, report }) => ({
      argv: [
        ...[
          'node',
          '--test',
          `--test-reporter=${lib}/node-reporter.mjs`,
          `--test-reporter-destination=${report}`,
        ],
        ...['--test-reporter=spec', '--test-reporter-destination=stderr', ...targets],
      ],
      env: {},
    }),
    report: 'file',
    read: readJsonLines,
    failedExit: 1,
    files: { 'node-reporter.mjs': NODE_REPORTER },
  },
  vitest: jestLike(
    'vitest',
    { 'vitest-marker.mjs': VITEST_MARKER },
    ({ lib, report }) => [
      ...['run', `--reporter=${lib}/vitest-marker.mjs`, '--reporter=json', `--outputFile=${report}`],
    ],
    (seed) => ['--sequence.shuffle', `--sequence.seed=${seed}`],
  ),
  jest: jestLike(
    'jest',
    { 'jest-runner.cjs': JEST_RUNNER },
    ({ lib, report, scratch }) => [
      ...['--ci', '--json', `--outputFile=${report}`, `--cacheDirectory=${scratch}/jest`, '--watchman=false'],
      `--testRunner=${lib}/jest-runner.cjs`,
    ],
    (seed) => ['--randomize', `--seed=${seed}`],
  ),
  go: {
    start: (targets, { scratch }, seed) => ({
      argv: [
        'go',
        'test',
        '-json',
        '-count=1',
        ...seeded(seed, (value) => [`-shuffle=${value}`]),
        ...targets,
      ],
      env: {
        GOCACHE: `${scratch}/go-build`,
        GOPROXY: 'off',
        GOTOOLCHAIN: 'local',
        GOFLAGS: '-buildvcs=false',
      },
    }),
    report: 'stdout',
    read: readGoJson,
    failedExit: 1,
    files: {},
  },
  cargo: {
    start: (targets, { scratch }) => ({
      argv: ['cargo', 'test', '--offline', '--no-fail-fast', ...targets.filter((word) => word !== '')],
      env: { CARGO_TARGET_DIR: `${scratch}/target`, CARGO_TERM_COLOR: 'never' },
    }),
    report: 'both',
    read: readCargoText,
    failedExit: 101,
    files: {},
  },
  junit: {
    start: (command) => ({ argv: command, env: {} }),
    report: 'file',
    read: readJunitXml,
    failedExit: null,
    files: {},
  },
};

/** Gives what the framework reported on stdout and everything else on stderr. */
const WRAPPERS: Record<Plan['report'], string> = {
  file: '"$@" >&2; status=$?; cat "$REPORT" 2>/dev/null; exit $status',
  stdout: 'exec "$@"',
  both: 'exec "$@" 2>&1',
};

/**
 * The program that runs a target and prints its report to stdout.
 * @param target with a framework, what it is to test: files, folders, packages; for `junit` a command that writes
 * its report to `$REPORT`.
 */
export function invocationOf(framework: Framework, target: Command, place: Place, seed?: number): Invocation {
  const plan = PLANS[framework];
  const words =
    typeof target !== 'string' ? target : framework === 'junit' ? ['/bin/sh', '-c', target] : [target];
  const { argv, env } = plan.start(words, place, seed);
  return {
    argv: ['/bin/sh', '-c', WRAPPERS[plan.report], 'sh', ...argv],
    env: { ...env, REPORT: place.report },
  };
}

/** Our own programs, to be put into `Place.lib`. */
export const libraryOf = (framework: Framework): Record<string, string> => PLANS[framework].files;

export const readerOf = (framework: Framework): ReadReport => PLANS[framework].read;

/** Whether the exit status is the one of a run in which tests have failed and nothing else is wrong. */
export function saysFailed(framework: Framework, exit: number | null): boolean {
  const { failedExit } = PLANS[framework];
  return failedExit === null ? exit !== 0 && exit !== null : exit === failedExit;
}
