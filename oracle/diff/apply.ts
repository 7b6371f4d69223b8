import { join } from 'node:path';
import { git, gitOk } from '../git.ts';
import type { pathRule } from './filter.ts';
import { saneName } from './names.ts';

/**
 * Applies a filtered diff to a clean checkout: first to an index of its own, where git itself then tells which
 * paths changed and how, so that a diff that our parser and git read differently changes nothing.
 * @param scratch a directory outside the tree.
 * @returns why it cannot be graded, or null when it is applied.
 * @throws FlipstreamError when git fails for another reason than the diff.
 */
export async function applyDiff(
  tree: string,
  scratch: string,
  kept: Buffer,
  rule: ReturnType<typeof pathRule>,
): Promise<string | null> {
  if (kept.length === 0) return null;
  const index = { GIT_INDEX_FILE: join(scratch, 'index') };
  const apply = ['apply', '--whitespace=nowarn'];
  await gitOk(['read-tree', 'HEAD'], { cwd: tree, env: index });
  for (const last of [['--cached', '--check'], ['--cached']]) {
    const tried = await git([...apply, ...last, '-'], { cwd: tree, env: index, input: kept });
    if (tried.code !== 0) return `the diff does not apply: ${tried.stderr.trim()}`;
  }
  const raw = await gitOk(['diff-index', '--cached', '--raw', '-z', '--no-renames', 'HEAD'], {
    cwd: tree,
    env: index,
  });
  const unexpected = unexpectedChange(raw.toString('latin1'), rule);
  if (unexpected) return unexpected;
  for (const last of [['--check'], []]) {
    const tried = await git([...apply, ...last, '-'], { cwd: tree, input: kept });
    if (tried.code !== 0) return `the diff does not apply to the files: ${tried.stderr.trim()}`;
  }
  return null;
}

const PLAIN = new Set(['000000', '100644', '100755']);

/**
 * What git says a filtered diff changes, held against what it may change.
 * @param raw `:<mode> <mode> <hash> <hash> <status>NUL<path>NUL`, again and again; latin1.
 */
export function unexpectedChange(raw: string, rule: ReturnType<typeof pathRule>): string | null {
  const fields = raw.split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [before, after] = (fields[at] ?? '').slice(1).split(' ');
    const path = saneName(fields[at + 1] ?? '');
    const modes = PLAIN.has(before ?? '') && PLAIN.has(after ?? '');
    if (path === null || !modes || rule(path) !== null)
      return `git reads the filtered diff as a change of ${path ?? 'a path with an odd name'}, which it may not change`;
  }
  return null;
}
