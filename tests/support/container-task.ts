/** A task in a container, and grades of it by the real runner as the service makes them: a FAIL that the machine could have made has a control run. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { containerRunner } from '../../oracle/runner/container.ts';
import { controlFault, needsControl, type Outcome, outcomeOf } from '../../oracle/runner/outcome.ts';
import type { RunJob, Runner, RunResult } from '../../oracle/runner/runner.ts';
import { define, TaskFile } from '../../oracle/tasks/definition.ts';
import { makeMirror } from '../../oracle/tasks/mirror.ts';
import { testImage } from './docker-image.ts';

/** Path to content; null deletes. */
export type Files = Record<string, string | Buffer | null>;

export interface TaskSource {
  files: Files;
  hidden: Record<string, string>;
  /** Fields of task.json beside those that every task needs. */
  task: Record<string, unknown> & Pick<TaskFile, 'suite' | 'hidden'>;
  /** Committed after the base. */
  later?: Files;
}

export interface ContainerTask {
  job: RunJob;
  runner: Runner;
  /** A clone at the base, for making diffs. */
  source: string;
  /** The diff that makes the base into this, by git. */
  diffOf(change: Files, arrange?: (clone: string) => void): Buffer;
  run(diff: Buffer | null, change?: Partial<RunJob>): Promise<RunResult>;
  /** @param timeoutS instead of the task's own. */
  grade(diff: Buffer | null, timeoutS?: number): Promise<Outcome & { result: RunResult }>;
  remove(): void;
}

export const ORACLE_HOST = `test-${process.pid}`;

export function git(cwd: string, ...args: string[]): Buffer {
  const env = { PATH: process.env.PATH, HOME: devNull, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' };
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...who, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 28,
  });
}

export function writeFiles(directory: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    const place = join(directory, path);
    rmSync(place, { recursive: true, force: true });
    if (content === null) continue;
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, content);
  }
}

function commit(directory: string, files: Files, message: string): void {
  writeFiles(directory, files);
  git(directory, 'add', '--all', '--force');
  git(directory, 'commit', '--quiet', '--message', message);
}

export async function makeTask(
  source: TaskSource,
  options: { runner?: Runner; image?: string } = {},
): Promise<ContainerTask> {
  const directory = mkdtempSync(join(tmpdir(), 'flipstream-container-task-'));
  const repository = join(directory, 'repo');
  mkdirSync(repository);
  git(repository, 'init', '--quiet');
  commit(repository, source.files, 'base');
  const base = git(repository, 'rev-parse', 'HEAD').toString().trim();
  if (source.later) commit(repository, source.later, 'later');
  const mirror = join(directory, 'mirror.git');
  const known = await makeMirror(repository, base, mirror);
  git(repository, 'checkout', '--quiet', '--detach', base);
  const image = options.image ?? (await testImage());
  if (image === null) throw new Error('the test image is not there: run npm run test:real, which makes it');
  const common = {
    task_id: 't',
    mirror: repository,
    base_commit: base,
    allowlist: ['src/**'],
    timeout_s: 30,
  };
  const file = TaskFile.parse({ ...common, runner: 'container', image, ...source.task });
  const runner = options.runner ?? containerRunner({ oracleHost: ORACLE_HOST });
  const hidden = Object.entries(source.hidden).map(([path, content]) => ({
    path,
    executable: false,
    content: Buffer.from(content),
  }));
  const job: RunJob = {
    run_id: 'r',
    definition: define(file, known, '0'.repeat(32), null),
    hidden,
    mirror,
    diff: null,
  };
  const run: ContainerTask['run'] = (diff, change = {}) => runner.run({ ...job, diff, ...change });
  return {
    job,
    runner,
    source: repository,
    run,
    diffOf(change, arrange) {
      const clone = mkdtempSync(join(directory, 'clone-'));
      git(directory, 'clone', '--quiet', '--no-hardlinks', mirror, clone);
      git(clone, 'checkout', '--quiet', '--detach', base);
      writeFiles(clone, change);
      arrange?.(clone);
      git(clone, 'add', '--all', '--force');
      return git(clone, 'diff', '--cached', '--binary', '--full-index', 'HEAD');
    },
    async grade(diff, timeout_s = job.definition.timeout_s) {
      const definition = { ...job.definition, timeout_s };
      const result = await run(diff, { definition });
      const outcome = outcomeOf(result);
      if (outcome.code !== 'FAIL' || !needsControl(result)) return { ...outcome, result };
      const fault = controlFault(await run(null, { definition }));
      return fault === null
        ? { ...outcome, result }
        : { code: 'ERROR', reason: `control_failed: ${fault}`, result };
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Runs the task with its fix, without hurry, and has whatever passed there expected from then on. */
export async function learnIds(task: ContainerTask, fix: Buffer): Promise<RunResult> {
  const result = await task.run(fix, { definition: { ...task.job.definition, timeout_s: 120 } });
  const ids = (phases: RunResult['hidden']) =>
    phases.flatMap(({ tests }) =>
      (tests ?? []).filter(({ outcome }) => outcome === 'passed').map(({ id }) => id),
    );
  task.job.definition.expected_ids = ids(result.hidden);
  task.job.definition.suite_ids = result.suite && ids([result.suite]);
  return result;
}
