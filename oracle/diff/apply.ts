import { join } from 'node:path';
import { git, gitOk } from '../git.ts';
import type { pathRule } from './filter.ts';
import { saneName } from './names.ts';

/**
 * Processor time, seconds, that git may take for each of the four steps of applying. Honest diffs take a hundredth of it;
 * what is made to take long is refused, and not by a clock, which a busy machine would move.
 */
export const APPLY_CPU_S = 3;

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
  const apply = async (options: readonly string[], env: Record<string, string> = {}) => {
    const how = { cwd: tree, env, input: kept, cpuS: APPLY_CPU_S };
    const { code, stderr } = await git(['apply', '--whitespace=nowarn', ...options, '-'], how);
    return code === 0 ? null : stderr.trim() || 'it takes git too long';
  };
  await gitOk(['read-tree', 'HEAD'], { cwd: tree, env: index });
  for (const last of [['--cached', '--check'], ['--cached']]) {
    const why = await apply(last, index);
    if (why !== null) return `the diff does not apply: ${why}`;
  }
  const raw = await gitOk(['diff-index', '--cached', '--raw', '-z', '--no-renames', 'HEAD'], {
    cwd: tree,
    env: index,
  });
  const unexpected = unexpectedChange(raw.toString('latin1'), rule);
  if (unexpected) return unexpected;
  for (const last of [['--check'], []]) {
    const why = await apply(last);
    if (why !== null) return `the diff does not apply to the files: ${why}`;
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
