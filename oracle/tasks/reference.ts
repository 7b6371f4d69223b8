import { type Dropped, filterDiff } from '../diff/filter.ts';
import { parseDiff } from '../diff/parse.ts';
import type { Oracle } from '../oracle.ts';
import { pathsAtBase } from '../runner/checkout.ts';
import type { StoredTask } from './store.ts';
import type { Objection } from './verify.ts';

/** Why a reference is refused before anything runs, and what the path filter cuts off it. */
export interface Refused {
  objection: Objection & { detail: string };
  dropped: Dropped[];
}

/**
 * Why a reference cannot show that a task can be solved, or null: an agent's diff goes through the same filter, so
 * what is cut off the reference is cut off every solution like it. It may name hidden tests, so paths are detail.
 */
export async function refusedReference({
  definition,
  reference,
  mirror,
}: StoredTask): Promise<Refused | null> {
  if (!reference) return null;
  const base = await pathsAtBase(mirror, definition.base_commit);
  const filtered = filterDiff(reference, definition, (path) => base.has(path));
  if ('unparseable' in filtered)
    return refused('the reference is no diff that can be read', filtered.unparseable);
  const { kept, dropped } = filtered;
  if (kept.length === 0 && dropped.length === 0)
    return refused('the reference changes nothing', 'it is empty');
  if (dropped.length === 0) return null;
  const cut = dropped.map(({ paths, why }) => `${paths.join(' → ')} (${why})`);
  return refused(
    'the path filter cuts a part off the reference',
    `cut off: ${cut.join(', ')}. Leave tests out of the reference: they are added as hidden tests; for anything else widen allowlist, or narrow denylist`,
    dropped,
  );
}

const refused = (reason: string, detail: string, dropped: Dropped[] = []): Refused => ({
  objection: { reason, detail, acceptable: false },
  dropped,
});

/** A file that holds this share of the lines is one that the fix was released in. */
const SHARE = 0.5;

/** O4: the fix lies in the image, where graded code could load it from: an installed release, a cache. */
export async function fixInImage(
  { searchImage }: Oracle,
  { definition: { image }, reference }: StoredTask,
): Promise<Objection | null> {
  if (!searchImage || image === null || !reference) return null;
  const lines = addedLines(reference);
  if (lines.length === 0) return null;
  const files = await searchImage(image, lines);
  return files.some((file) => file.lines >= lines.length * SHARE)
    ? { reason: 'the image holds what the reference adds, outside of the checkout', acceptable: true }
    : null;
}

/** Whether an image was to be searched for a fix of which no line is telling: nobody has looked then. */
export function unsearched(
  { searchImage }: Oracle,
  { definition: { image }, reference }: StoredTask,
): boolean {
  return searchImage !== null && image !== null && reference !== null && addedLines(reference).length === 0;
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
