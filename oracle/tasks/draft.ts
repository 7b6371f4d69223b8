import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { FlipstreamError } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import { pathRule } from '../diff/filter.ts';
import { git, gitOk } from '../git.ts';
import type { TaskFile } from './definition.ts';
import { DEFAULT_DENYLIST, TEST_PATTERNS } from './denied.ts';
import { frameworkOf } from './frameworks.ts';

/** What the author names: a commit that fixes something and brings its tests, or tests that fail now. */
export type DraftFrom =
  | { repository: string; fix: string }
  | { repository: string; tests: readonly string[] };

export interface Draft {
  file: Partial<TaskFile>;
  hidden: { path: string; content: Buffer }[];
  reference: Buffer | null;
  /** What the author has to look at, one sentence each. */
  remarks: string[];
}

const isTest = (path: string) => TESTS(path) === 'denied';
const TESTS = pathRule({ allowlist: ['**'], denylist: TEST_PATTERNS, shadow_names: [] });
const DENIED = pathRule({ allowlist: ['**'], denylist: DEFAULT_DENYLIST, shadow_names: [] });
/** Prose is no part of a fix, and a task whose allowlist holds it would let an agent write nothing but prose. */
const PROSE = pathRule({
  allowlist: ['**'],
  denylist: ['*.md', '*.rst', '*.txt', 'docs/', 'doc/', 'changelog.d/', 'newsfragments/', 'news/'],
  shadow_names: [],
});

/**
 * Makes a task's files from what the repository already says.
 * @throws FlipstreamError `draft_impossible` (usage) saying what is missing.
 */
export async function draftTask(id: string, from: DraftFrom): Promise<Draft> {
  const draft = 'fix' in from ? await fromFix(from) : await fromTests(from);
  const { repository } = from;
  const { framework, suite, remark } = frameworkOf(
    repository,
    draft.hidden.map(({ path }) => path),
  );
  const hidden = draft.hidden.map(({ path }) => path).filter((path) => isTest(path) && isCode(path));
  if (hidden.length === 0) throw impossible(repository, 'there is no test file among what is to be hidden');
  return {
    ...draft,
    file: {
      task_id: id,
      mirror: resolve(repository),
      ...(framework ? { framework } : {}),
      suite,
      hidden: hidden.map((path) => [path]),
      ...draft.file,
    },
    remarks: [...draft.remarks, ...(remark ? [remark] : [])],
  };
}

const isCode = (path: string) =>
  /\.(py|[cm]?[jt]sx?|go|rs|java|kt|rb)$/.test(path) && !/(^|\/)(conftest|__init__)\.py$/.test(path);

type Found = Omit<Draft, 'file'> & { file: Partial<TaskFile> };

async function fromFix({ repository, fix }: { repository: string; fix: string }): Promise<Found> {
  const commit = await commitOf(repository, fix);
  const base_commit = await commitOf(repository, `${commit}^`);
  const changed = (
    await gitOk(['-C', repository, 'diff', '--name-only', '--no-renames', '-z', base_commit, commit])
  )
    .toString()
    .split('\0')
    .filter(Boolean);
  const tests = changed.filter(isTest);
  const sources = changed.filter((path) => !isTest(path) && DENIED(path) === null && PROSE(path) === null);
  const left = changed.filter((path) => !isTest(path) && DENIED(path) === 'denied');
  if (sources.length === 0) throw impossible(repository, `${fix} changes no source that a diff may change`);
  const hidden = [];
  for (const path of tests) {
    const shown = await git(['-C', repository, 'show', `${commit}:${path}`]);
    if (shown.code === 0) hidden.push({ path, content: shown.stdout });
  }
  const reference = await gitOk([
    ...['-C', repository, 'diff', '--binary', '--full-index', '--no-color', '--no-ext-diff', '--no-renames'],
    ...[base_commit, commit, '--', ...sources],
  ]);
  return {
    file: { base_commit, allowlist: roots(sources), reference: 'reference.patch' },
    hidden,
    reference,
    remarks: left.map((path) => `${path} is part of the fix and may not be changed by a diff: left out.`),
  };
}

async function fromTests({
  repository,
  tests,
}: {
  repository: string;
  tests: readonly string[];
}): Promise<Found> {
  const hidden = tests.map((test) => {
    const place = resolve(repository, test);
    const path = relative(resolve(repository), place);
    if (path.startsWith('..') || !existsSync(place) || !statSync(place).isFile())
      throw impossible(repository, `${test} is no file in it`);
    return { path, content: readFileSync(place) };
  });
  return {
    file: { base_commit: await commitOf(repository, 'HEAD'), allowlist: ['src/**'] },
    hidden,
    reference: null,
    remarks: [
      'allowlist is a guess: name what a diff may change.',
      'There is no reference: add one (reference in task.json) so that the check sees the tests pass.',
    ],
  };
}

async function commitOf(repository: string, name: string): Promise<string> {
  const found = await git([
    '-C',
    repository,
    'rev-parse',
    '--verify',
    '--end-of-options',
    `${name}^{commit}`,
  ]);
  if (found.code === 0) return found.stdout.toString().trim();
  const opened = await git(['-C', repository, 'rev-parse', '--git-dir']);
  if (opened.code !== 0) throw impossible(repository, 'it is no folder with a git repository');
  throw impossible(repository, `it has no commit ${name}`);
}

/** The folders that hold the sources of a fix, as far up as they are its alone: `src/a/b.ts` gives `src/**`. */
function roots(sources: readonly string[]): string[] {
  const tops = sources.map((path) => (path.includes('/') ? `${path.split('/')[0]}/**` : path));
  return [...new Set(tops)].sort();
}

function impossible(repository: string, why: string): FlipstreamError {
  return new FlipstreamError(
    'draft_impossible',
    'usage',
    `no task can be made from ${basename(resolve(repository))}: ${why}`,
  );
}

/** Writes a draft as a folder for `task add`. @throws FlipstreamError `export_exists` (usage). */
export function writeDraft(dir: string, draft: Draft): void {
  if (existsSync(dir))
    throw new FlipstreamError('export_exists', 'usage', `${dir} is there already: name another folder`);
  for (const { path, content } of draft.hidden) {
    makeFolder(join(dir, 'hidden', dirname(path)), 0o777);
    writeFileSync(join(dir, 'hidden', path), content);
  }
  if (draft.reference) writeFileSync(join(dir, 'reference.patch'), draft.reference);
  writeFileSync(join(dir, 'task.json'), `${JSON.stringify(draft.file, null, 2)}\n`);
}
