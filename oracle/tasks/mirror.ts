import { rename, rm } from 'node:fs/promises';
import { FlipstreamError } from '../../schemas/errors.ts';
import { git, gitOk } from '../git.ts';

/**
 * Copies the base commit and its ancestors, and nothing else, out of a repository into the oracle's own mirror:
 * no other branch, tag, reflog or object comes along, so nothing newer can be reached from it.
 * @param source path of a repository, bare or not.
 * @returns the full base commit and the roots that it descends from.
 * @throws FlipstreamError `mirror_unusable` (usage) when there is no such repository or commit, or it is shallow.
 */
export async function makeMirror(
  source: string,
  base: string,
  mirror: string,
): Promise<{ base_commit: string; root_commits: string[] }> {
  const unusable = (why: string) =>
    new FlipstreamError('mirror_unusable', 'usage', `${source} cannot be mirrored: ${why}`);
  const about = await git([
    '-C',
    source,
    'rev-parse',
    '--is-shallow-repository',
    '--show-object-format',
    '--show-prefix',
  ]);
  const [shallow, format = '', prefix] = about.stdout.toString().split('\n');
  // git looks for a repository upwards: a plain directory inside another one is not what was meant.
  if (about.code !== 0 || prefix !== '')
    throw unusable(
      'it is no git repository: correct `mirror` in task.json, or make it one (git init, git commit)',
    );
  if (shallow === 'true')
    throw unusable('it is a shallow clone; fetch the rest first (git fetch --unshallow)');
  const found = await git(['-C', source, 'rev-parse', '--verify', '--end-of-options', `${base}^{commit}`]);
  if (found.code !== 0) throw unusable(`it has no commit ${base} (${found.stderr.trim()})`);
  const base_commit = found.stdout.toString().trim();
  const fresh = `${mirror}.new`;
  await rm(fresh, { recursive: true, force: true });
  await gitOk(['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, fresh]);
  const pack = await git(['-C', source, 'pack-objects', '--quiet', '--revs', '--stdout'], {
    input: `${base_commit}\n`,
  });
  if (pack.code !== 0) throw unusable(pack.stderr.trim());
  await gitOk(['-C', fresh, 'index-pack', '--stdin'], { input: pack.stdout });
  await gitOk(['-C', fresh, 'update-ref', 'refs/heads/base', base_commit]);
  await gitOk(['-C', fresh, 'symbolic-ref', 'HEAD', 'refs/heads/base']);
  await gitOk(['-C', fresh, 'fsck', '--connectivity-only', '--no-dangling']);
  const root_commits = await rootsOf(fresh, base_commit);
  await rm(mirror, { recursive: true, force: true });
  await rename(fresh, mirror);
  return { base_commit, root_commits };
}

/** The roots, oldest first and of equal ones the smallest id: the first is the one that names the repository. */
async function rootsOf(mirror: string, base: string): Promise<string[]> {
  const listed = await gitOk(['-C', mirror, 'rev-list', '--max-parents=0', '--timestamp', base]);
  const roots = listed
    .toString()
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  roots.sort(
    ([time, id = ''], [otherTime, other = '']) => Number(time) - Number(otherTime) || (id < other ? -1 : 1),
  );
  return roots.map(([, id = '']) => id);
}

/** A git bundle of the mirror: branch `base` and HEAD, for `task start`. */
export async function bundleOf(mirror: string): Promise<Buffer> {
  return gitOk(['-C', mirror, 'bundle', 'create', '--quiet', '-', 'HEAD', 'refs/heads/base']);
}
