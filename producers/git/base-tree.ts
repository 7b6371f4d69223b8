import { type Git, runGit, splitNul } from './run.ts';

export interface TreeEntry {
  mode: string;
  oid: string;
}

/** All files, links and submodules of a commit by path (byte string); empty for null, a repository without one. */
export async function readTree(
  git: Git,
  gitDir: string,
  commit: string | null,
): Promise<Map<string, TreeEntry>> {
  if (commit === null) return new Map();
  const out = await runGit(git, ['ls-tree', '-r', '-z', '--full-tree', commit], { gitDir });
  return new Map(
    splitNul(out).map((line) => {
      const cut = line.indexOf('\t');
      const [mode = '', , oid = ''] = line.slice(0, cut).split(' ');
      return [line.slice(cut + 1), { mode, oid }] as const;
    }),
  );
}
