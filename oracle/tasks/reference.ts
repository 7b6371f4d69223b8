import { filterDiff } from '../diff/filter.ts';
import { parseDiff } from '../diff/parse.ts';
import type { Oracle } from '../oracle.ts';
import { pathsAtBase } from '../runner/checkout.ts';
import type { StoredTask } from './store.ts';
import type { Objection } from './verify.ts';

/**
 * Why a reference cannot show that a task can be solved, or null: an agent's diff goes through the same filter, so
 * what is cut off the reference is cut off every solution like it.
 */
export async function referenceFault({ definition, reference, mirror }: StoredTask): Promise<string | null> {
  if (!reference) return null;
  const base = await pathsAtBase(mirror, definition.base_commit);
  const filtered = filterDiff(reference, definition, (path) => base.has(path));
  if ('unparseable' in filtered) return `the reference is no diff that can be read: ${filtered.unparseable}`;
  if (filtered.kept.length === 0 && filtered.dropped.length === 0) return 'the reference changes nothing';
  const [cut] = filtered.dropped;
  return cut
    ? `the path filter cuts ${filtered.dropped.length} file(s) off the reference, the first is ${cut.paths.join(' → ')} (${cut.why}): widen allowlist, or narrow denylist`
    : null;
}

/** A file that holds this share of the lines is one that the fix was released in. */
const SHARE = 0.5;

/** O4: the fix lies in the image, where graded code could load it from: an installed release, a cache. */
export async function fixInImage(
  { searchImage }: Oracle,
  { definition: { image }, reference }: StoredTask,
): Promise<Objection | null> {
  if (!searchImage || image === null || !reference) return null;
  const lines = addedLines(reference);
  const files = await searchImage(image, lines);
  return files.some((file) => file.lines >= lines.length * SHARE)
    ? { reason: 'the image holds what the reference adds, outside of the checkout', acceptable: true }
    : null;
}

/** Lines that could be anybody's say nothing about where the fix lies. */
const TELLING = 24;

/** The lines that a diff adds and that are long enough to be recognised somewhere else. */
function addedLines(diff: Buffer): string[] {
  const parsed = parseDiff(diff);
  if ('unparseable' in parsed) return [];
  const lines = parsed.sections.flatMap(({ raw }) => Buffer.from(raw, 'latin1').toString('utf8').split('\n'));
  const added = lines
    .filter((line) => line.startsWith('+') && !line.startsWith('+++'))
    .map((line) => line.slice(1).trim());
  return [...new Set(added.filter((line) => line.replace(/\s/g, '').length >= TELLING))];
}
