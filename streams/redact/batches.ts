/** A text to scan and the record it belongs to. */
export interface Piece {
  owner: number;
  text: string;
}

export interface ScanBatch {
  /** Latin-1: one byte a character, so that a place in the bytes is a place in their text. */
  bytes: Buffer;
  /** The records whose text lies between two places of the batch; more than one where a hit spans a seam. */
  ownersOf(start: number, end: number): number[];
}

/** Characters a batch. */
export const BATCH = 1 << 20;
/** A long text is cut, and what lies around each cut is scanned again: longer than any rule's match. */
const SEAM = 48 << 10;
/** No rule's token holds a line break, and no key block this character. */
const BETWEEN = '\n\u001e\n';

/** Joins pieces, which hold no character above U+00FF, into batches of about `BATCH` characters. */
export function* joinPieces(pieces: Iterable<Piece>): Generator<ScanBatch> {
  let waiting: Piece[] = [];
  let length = 0;
  for (const piece of cut(pieces)) {
    if (length + piece.text.length > BATCH && waiting.length > 0) {
      yield batchOf(waiting);
      waiting = [];
      length = 0;
    }
    waiting.push(piece);
    length += piece.text.length + BETWEEN.length;
  }
  if (waiting.length > 0) yield batchOf(waiting);
}

function* cut(pieces: Iterable<Piece>): Generator<Piece> {
  for (const { owner, text } of pieces) {
    if (text.length <= BATCH) yield { owner, text };
    else
      for (let at = 0; at < text.length; at += BATCH - SEAM)
        yield { owner, text: text.slice(at, at + BATCH) };
  }
}

function batchOf(pieces: readonly Piece[]): ScanBatch {
  const starts: number[] = [];
  let length = 0;
  for (const { text } of pieces) {
    starts.push(length);
    length += text.length + BETWEEN.length;
  }
  const indexAt = (place: number): number => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const bytes = Buffer.allocUnsafe(length);
  pieces.forEach(({ text }, at) => {
    bytes.write(text + BETWEEN, starts[at] ?? 0, 'latin1');
  });
  return {
    bytes,
    ownersOf: (start, end) => {
      const owners = new Set(
        pieces.slice(indexAt(start), indexAt(Math.max(start, end - 1)) + 1).map(({ owner }) => owner),
      );
      return [...owners];
    },
  };
}
