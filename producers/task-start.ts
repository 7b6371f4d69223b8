import {
  createWriteStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { FlipstreamError, messageOf } from '../schemas/errors.ts';
import { makeFolder } from '../schemas/make-folder.ts';
import type { Clock } from '../schemas/time.ts';
import { writeDispatch } from './gate/dispatch.ts';
import { historyVisible, rootCommit } from './git/history.ts';
import { type Repository, repositoryAt } from './git/repository.ts';
import { findGit, type Git, GitError, runGit } from './git/run.ts';
import { createScratch, readRepositoryConfig, removeScratch } from './git/scratch.ts';
import type { Home } from './home.ts';
import { askOracle, bodyOf, type OracleAt } from './oracle-client.ts';
import { MAX_ATTEMPTS } from './project-config.ts';

/** The public part of a task, `GET /v1/tasks/<id>` at the oracle. */
const PublicTask = z.object({
  task_id: z.string(),
  base_commit: z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/),
  root_commit: z.string(),
});
type PublicTask = z.infer<typeof PublicTask>;

export interface TaskStartInput {
  taskId: string;
  /** Where the clone goes; absent or empty. Default: a folder named after the task in the working directory. */
  directory?: string;
  oracle: OracleAt;
  home: Home;
  clock: Clock;
  /** Value of PATH, to find git. */
  path: string | undefined;
  /** Grades asked for at most, 1 to 20; left to the default when absent. */
  maxAttempts?: number;
  /** Bytes of the repository fetched so far; for progress. */
  onBytes?: (bytes: number) => void;
  /** Milliseconds for all of git's work. */
  timeoutMs?: number;
  /** Ends it before it is done; what it made is removed then, too. */
  signal?: AbortSignal;
}

export interface StartedTask {
  task_id: string;
  directory: string;
  base_commit: string;
}

/**
 * Makes the agent's clone for a task: the base commit and its ancestors and nothing newer, no remote, no tag,
 * no reflog. Writes `.flipstream/config.json` (kept out of git's sight) and, under FLIPSTREAM_HOME, the record
 * that makes sessions there `task_source: dispatch`. What it made is removed again when it fails.
 *
 * @throws FlipstreamError usage (`task_unknown`, `directory_not_empty`, `oracle_refused`, `no_git`), retryable
 *   (`oracle_unreachable`), fatal (`task_repository_unusable`)
 */
export async function taskStart(input: TaskStartInput): Promise<StartedTask> {
  const directory = resolve(input.directory ?? basename(input.taskId));
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found && !(found.isDirectory() && readdirSync(directory).length === 0)) {
    throw usage(
      'directory_not_empty',
      `${directory} is not an empty directory: name another one for the task's clone.`,
    );
  }
  const task = await publicTask(input);
  const existed = existsSync(directory);
  const bundles = mkdtempSync(join(tmpdir(), 'flipstream-bundle-'));
  try {
    const bundle = join(bundles, 'base.bundle');
    await download(input, bundle);
    makeFolder(directory, 0o777);
    await cloneFrom(input, task, realpathSync(directory), bundle);
    return { task_id: task.task_id, directory, base_commit: task.base_commit };
  } catch (error) {
    if (!existed) rmSync(directory, { recursive: true, force: true });
    else
      for (const name of readdirSync(directory))
        rmSync(join(directory, name), { recursive: true, force: true });
    throw asTold(error, task);
  } finally {
    rmSync(bundles, { recursive: true, force: true });
  }
}

function usage(code: string, message: string): FlipstreamError {
  return new FlipstreamError(code, 'usage', message);
}

function asTold(error: unknown, task: PublicTask): unknown {
  if (!(error instanceof GitError)) return error;
  if (error.fault === 'no_git')
    return usage('no_git', 'git was not found on PATH: install it and try again.');
  const message = `the clone for task ${task.task_id} could not be made (${error.message}); ask the task's author to run \`flipstream oracle task check ${task.task_id}\`.`;
  return new FlipstreamError('task_repository_unusable', 'fatal', message, error);
}

function patience({ timeoutMs = 600_000, signal }: TaskStartInput): AbortSignal {
  const late = AbortSignal.timeout(timeoutMs);
  return signal ? AbortSignal.any([late, signal]) : late;
}

async function ask(input: TaskStartInput, path: string): Promise<IncomingMessage> {
  const { url } = input.oracle;
  let response: IncomingMessage;
  try {
    response = await askOracle(input.oracle, `/v1/tasks/${encodeURIComponent(input.taskId)}${path}`, {
      signal: patience(input),
    });
  } catch (error) {
    const message = `the oracle at ${url} cannot be reached (${messageOf(error)}): start it with \`flipstream up\`, or correct its address.`;
    throw new FlipstreamError('oracle_unreachable', 'retryable', message, error);
  }
  const { statusCode: status = 0 } = response;
  if (status === 200) return response;
  response.destroy();
  if (status === 404) {
    throw usage(
      'task_unknown',
      `the oracle knows no task ${input.taskId} that is ready: \`flipstream oracle task list\` shows them.`,
    );
  }
  const message = `the oracle at ${url} refused (status ${status}): check the token in the configuration.`;
  throw usage('oracle_refused', message);
}

async function publicTask(input: TaskStartInput): Promise<PublicTask> {
  const response = await ask(input, '');
  const parsed = PublicTask.safeParse(await jsonOf(response).catch(() => null));
  if (parsed.success && parsed.data.task_id === input.taskId) return parsed.data;
  const message = `the answer of the oracle about task ${input.taskId} is not understood: is it of another release?`;
  throw new FlipstreamError('oracle_refused', 'fatal', message);
}

async function download(input: TaskStartInput, file: string): Promise<void> {
  const response = await ask(input, '/bundle');
  let bytes = 0;
  response.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length;
    input.onBytes?.(bytes);
  });
  await pipeline(response, createWriteStream(file, { mode: 0o600 }));
}

const ANSWER_LIMIT = 64 * 1024;

async function jsonOf(response: IncomingMessage): Promise<unknown> {
  return JSON.parse((await bodyOf(response, ANSWER_LIMIT)).toString('utf8'));
}

async function cloneFrom(
  input: TaskStartInput,
  task: PublicTask,
  top: string,
  bundle: string,
): Promise<void> {
  const git: Git = { bin: findGit(input.path, top), signal: patience(input) };
  const gitDir = join(top, '.git');
  const at = { gitDir, workTree: top };
  const format = task.base_commit.length === 64 ? 'sha256' : 'sha1';
  const init = ['init', '--quiet', '--template=', `--object-format=${format}`, '--initial-branch=main'];
  makeFolder(gitDir, 0o777);
  await runGit(git, init, at);
  await runGit(git, ['config', 'core.logAllRefUpdates', 'false'], at);
  await runGit(git, ['bundle', 'unbundle', bundle], at);
  await runGit(git, ['update-ref', 'refs/heads/main', task.base_commit], at);
  const repo = repositoryAt(top);
  if (!repo) throw new GitError('failed', 'the new clone is not a repository');
  await requireOnlyPast(git, repo, task);
  await runGit(git, ['reset', '--quiet', '--hard', 'main'], at);
  await runGit(git, ['config', '--unset', 'core.logAllRefUpdates'], at);
  for (const name of ['logs', 'ORIG_HEAD', 'FETCH_HEAD'])
    rmSync(join(gitDir, name), { recursive: true, force: true });
  settle(input, task, repo);
}

/** The bundle comes from elsewhere: what it holds is checked before an agent sees it. */
async function requireOnlyPast(git: Git, repo: Repository, task: PublicTask): Promise<void> {
  const format = task.base_commit.length === 64 ? 'sha256' : 'sha1';
  const scratch = createScratch(repo, await readRepositoryConfig(git, repo), format);
  try {
    if ((await rootCommit(git, scratch, task.base_commit)) !== task.root_commit) {
      throw new GitError('failed', 'its root commit is not the one that the task names');
    }
    if (await historyVisible(git, repo, scratch, task.base_commit)) {
      throw new GitError('failed', 'it holds objects that are newer than the base commit');
    }
  } finally {
    removeScratch(scratch);
  }
}

/** Our own file inside the clone, hidden from git with the harness's, and the record outside of it. */
function settle(input: TaskStartInput, task: PublicTask, repo: Repository): void {
  const config: Record<string, unknown> = { task_id: task.task_id, base_commit: task.base_commit };
  if (input.maxAttempts !== undefined) config.max_attempts = Math.min(input.maxAttempts, MAX_ATTEMPTS);
  makeFolder(join(repo.gitDir, 'info'), 0o777);
  writeFileSync(join(repo.gitDir, 'info', 'exclude'), '/.flipstream/\n/.claude/settings.local.json\n');
  makeFolder(join(repo.top, '.flipstream'), 0o777);
  writeFileSync(join(repo.top, '.flipstream', 'config.json'), `${JSON.stringify(config, null, 2)}\n`);
  const { task_id, base_commit, root_commit } = task;
  writeDispatch(input.home, repo, { task_id, base_commit, root_commit }, input.clock());
}
