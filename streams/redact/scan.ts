/** The second scan. Runs in a worker thread: the log starts it through the reducer's `prepare`. */
import { CONTENT_FIELDS, contentOf } from '../../schemas/content.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { joinPieces, type Piece } from './batches.ts';
import { encodedRuns } from './encoded.ts';
import { inspect } from './inspect.ts';
import type { Scanned } from './redact.ts';
import { type Hit, ownHits } from './rules.ts';
import { secretlintHits } from './secretlint.ts';
import { viewOf } from './strings.ts';

/** Every hit of every scanner in a text. */
async function allHits(text: string): Promise<Hit[]> {
  // The letter of a line break that is still escaped would be taken for the token's. Same length, same places.
  const soft = text.includes('\\') ? text.replace(/\\[nrt]/g, '\n\n') : text;
  return [...ownHits(soft), ...(await secretlintHits(soft))];
}

/**
 * Looks at all records together, since a scanner called an event is ten times slower, and again by itself at
 * each event where something was hit. What an event becomes so never depends on its neighbours.
 * @throws whatever a scanner throws; the runner then tries each record alone.
 */
export async function prepare(records: readonly { value: TraceEvent }[]): Promise<Scanned[]> {
  const pieces: Piece[] = [];
  records.forEach(({ value }, index) => {
    for (const field of CONTENT_FIELDS) {
      const content = contentOf(value, field);
      if (content) look(pieces, index, viewOf(content));
    }
  });
  const suspects = new Set<number>();
  for (const batch of joinPieces(pieces)) {
    for (const { start, end } of await allHits(batch.text))
      for (const owner of batch.ownersOf(start, end)) suspects.add(owner);
  }
  return Promise.all(
    records.map(({ value }, index): Promise<Scanned> | Scanned =>
      suspects.has(index) ? inspect(value, allHits) : { found: 'nothing' },
    ),
  );
}

function look(pieces: Piece[], owner: number, text: string): void {
  pieces.push({ owner, text: narrow(text) });
  for (const { decoded } of encodedRuns(text)) pieces.push({ owner, text: narrow(decoded) });
}

/**
 * For the look at all together only. One wide character makes a whole batch a string of two bytes a character,
 * which scans at two thirds of the speed; no secret holds one. In its place stands what is no letter, so that
 * nothing that would be hit is not.
 */
function narrow(text: string): string {
  return text.replace(/[^\0-\xff]+/g, (wide) => '\xb7'.repeat(wide.length));
}
