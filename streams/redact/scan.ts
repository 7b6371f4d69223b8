/** The second scan. Runs in a worker thread: the log starts it through the reducer's `prepare`. */
import { CONTENT_FIELDS, contentOf } from '../../schemas/content.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { joinPieces, type Piece } from './batches.ts';
import { encodedRuns } from './encoded.ts';
import { inspect } from './inspect.ts';
import type { Scanned } from './redact.ts';
import { type Hit, ownHits } from './rules.ts';
import { secretlintHits } from './secretlint.ts';
import { soften } from './soften.ts';
import { viewOf } from './strings.ts';

/** Every hit of every scanner in a text of one byte a character, which is changed: see `soften`. */
async function hitsIn(bytes: Buffer): Promise<Hit[]> {
  soften(bytes);
  const text = bytes.toString('latin1');
  return [...ownHits(text, bytes), ...(await secretlintHits(text))];
}

const hitsOf = (text: string): Promise<Hit[]> => hitsIn(Buffer.from(narrow(text), 'latin1'));

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
    for (const { start, end } of await hitsIn(batch.bytes))
      for (const owner of batch.ownersOf(start, end)) suspects.add(owner);
  }
  return Promise.all(
    records.map(({ value }, index): Promise<Scanned> | Scanned =>
      suspects.has(index) ? inspect(value, hitsOf) : { found: 'nothing' },
    ),
  );
}

function look(pieces: Piece[], owner: number, text: string): void {
  pieces.push({ owner, text: narrow(text) });
  for (const { decoded } of encodedRuns(text)) pieces.push({ owner, text: narrow(decoded) });
}

/**
 * One wide character makes a whole text one of two bytes a character, which scans at two thirds of the speed; no
 * secret holds one. In its place stands what is no letter, so that nothing that would be hit is not.
 */
function narrow(text: string): string {
  return text.replace(/[^\0-\xff]+/g, (wide) => '\xb7'.repeat(wide.length));
}
