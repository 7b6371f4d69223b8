import { join } from 'node:path';
import { configHash } from './config-hash.ts';
import { buildDiff } from './gate/diff.ts';
import { type Dispatch, readDispatch } from './gate/dispatch.ts';
import { rememberSession } from './gate/session-file.ts';
import { headOf } from './git/head.ts';
import { historyVisible, rootCommit } from './git/history.ts';
import { readPlainFile } from './git/plain-file.ts';
import { remoteUrlHash } from './git/remote.ts';
import { findRepository, type Repository } from './git/repository.ts';
import { findGit, type Git } from './git/run.ts';
import { createScratch, readRepositoryConfig, removeScratch } from './git/scratch.ts';
import type { HarnessFolders } from './harness-folders.ts';
import type { Home } from './home.ts';
import { readHookSettings } from './hook/hook-settings.ts';
import { hookUrl, type OurHook } from './our-hook.ts';
import { type ProjectConfig, readProjectConfig } from './project-config.ts';

/** Milliseconds for all of git's work at a session's start. */
export const SESSION_START_BUDGET_MS = 2000;

export interface SessionStartInput {
  cwd: string;
  home: Home;
  /** Value of PATH, to find git. */
  path: string | undefined;
  sessionId: string;
  /** How the harness says the session began: startup, resume, clear, compact, fork. */
  source?: string | undefined;
  /** Where the harnesses look for the person's settings; null leaves user-wide rule files out. */
  folders?: HarnessFolders | null;
  /** Milliseconds for all of git's work; what is not known by then is `unknown` or null. */
  budgetMs?: number;
}

export interface SessionStart {
  /** Fields of the `session_start` draft. Those with a leading underscore are for the collector alone. */
  fields: Record<string, string | number | boolean | null>;
  /** One sentence for the person, or null. */
  message: string | null;
}

/**
 * What is true of the place a session starts in (appendix A, oracle-design "What is graded"). Keeps the facts
 * the gate needs (gate/session-file.ts). Never throws, and ends within its budget whatever the repository is.
 */
export async function sessionStartFacts(input: SessionStartInput): Promise<SessionStart> {
  const repo = findRepository(input.cwd);
  const top = repo?.top ?? input.cwd;
  const project = readProjectConfig(top);
  const dispatch = repo && readDispatch(input.home, repo);
  const place = await placeFacts(input, repo, dispatch);
  const taskId = dispatch?.task_id ?? project.task_id;
  const taskBase = dispatch?.base_commit ?? (project.task_id === null ? null : project.base_commit);
  const matches = taskBase === null ? null : place.base_commit === taskBase;
  try {
    rememberSession(input.home, input.sessionId, {
      task_id: taskId,
      base_commit: place.base_commit,
      worktree: repo?.top ?? null,
      base_matches: matches,
    });
  } catch {
    // the collector has the same facts from the draft; the gate then asks it
  }
  return {
    fields: {
      cwd: input.cwd,
      ...place,
      task_id: taskId,
      task_source: dispatch ? 'dispatch' : taskId === null ? null : 'project',
      inherited: matches === false ? true : place.inherited,
      config_hash: attempt(() => configHash(top, input.folders ?? null, ourHook(input.home))),
      _worktree: repo?.top ?? null,
      _max_attempts: project.max_attempts,
      _base_matches: matches,
    },
    message: messageFor(taskId, taskBase, place.base_commit, repo) ?? problemOf(project),
  };
}

/** What the SessionStart hook prints: shown to the person, not to the model; nothing when there is nothing to say. */
export function sessionStartOutput({ message }: SessionStart): string {
  return message === null ? '' : JSON.stringify({ systemMessage: message });
}

function ourHook(home: Home): OurHook {
  const { httpPort } = readHookSettings(home);
  return { hook: home.hook, url: httpPort === null ? null : hookUrl(httpPort) };
}

interface PlaceFacts {
  base_commit: string | null;
  root_commit: string | null;
  remote_url_hash: string | null;
  tree_hash: string | null;
  inherited: boolean | null;
  history_visible: boolean | null;
}

const NOWHERE: PlaceFacts = {
  base_commit: null,
  root_commit: null,
  remote_url_hash: null,
  tree_hash: null,
  inherited: null,
  history_visible: null,
};

async function placeFacts(
  input: SessionStartInput,
  repo: Repository | null,
  dispatch: Dispatch | null,
): Promise<PlaceFacts> {
  const bin = repo && attempt(() => findGit(input.path, repo.top));
  if (!repo || !bin) return { ...NOWHERE };
  const budget = input.budgetMs ?? SESSION_START_BUDGET_MS;
  const started = performance.now();
  const git: Git = { bin, signal: AbortSignal.timeout(budget) };
  const [head, config] = await Promise.all([
    known(headOf(git, repo)),
    known(readRepositoryConfig(git, repo)),
  ]);
  const facts: PlaceFacts = { ...NOWHERE, base_commit: head };
  if (config) facts.remote_url_hash = remoteUrlHash(config);
  if (!head || !config) return facts;
  const scratch = attempt(() => createScratch(repo, config, head.length === 64 ? 'sha256' : 'sha1'));
  if (!scratch) return facts;
  try {
    const left = Math.max(1, Math.floor(budget - (performance.now() - started)));
    const [tree, root, visible] = await Promise.all([
      treeFacts(input, repo, head, left),
      dispatch ? dispatch.root_commit : known(rootCommit(git, scratch, head)),
      known(historyVisible(git, repo, scratch, head)),
    ]);
    return { ...facts, ...tree, root_commit: root, history_visible: visible };
  } finally {
    removeScratch(scratch);
  }
}

/** Is the tree the base's? Not asked after a compaction: the session has long been working in it. */
async function treeFacts(input: SessionStartInput, repo: Repository, baseCommit: string, deadlineMs: number) {
  if (input.source === 'compact') return { tree_hash: 'unknown', inherited: null };
  const built = await buildDiff({ worktree: repo.top, baseCommit, deadlineMs, path: input.path });
  const tooMuch = built.missing === 'file_too_large' || built.missing === 'too_large';
  if (built.missing) return { tree_hash: 'unknown', inherited: tooMuch ? true : null };
  const clean = built.diff.length === 0;
  return { tree_hash: clean ? 'clean' : built.diffHash, inherited: !clean };
}

async function known<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch {
    return null;
  }
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** Why a session with a task will not be graded, as far as it can be known here. */
function messageFor(
  taskId: string | null,
  taskBase: string | null,
  head: string | null,
  repo: Repository | null,
): string | null {
  if (taskId === null) return null;
  const sentence = (why: string) =>
    `flipstream: this session will not be graded, because ${why}; \`flipstream task start ${taskId}\` makes a clone that can be.`;
  if (head === null) return sentence('there is no commit here');
  if (taskBase !== null && head !== taskBase) {
    return sentence(`HEAD is ${head.slice(0, 12)} and task ${taskId} begins at ${taskBase.slice(0, 12)}`);
  }
  const shallow = repo !== null && readPlainFile(join(repo.commonDir, 'shallow')) !== null;
  return shallow ? sentence('this clone is shallow') : null;
}

function problemOf(project: ProjectConfig): string | null {
  return project.problem === null ? null : `flipstream: ${project.problem}`;
}
