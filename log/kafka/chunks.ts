/** At most this much, or one record, goes into a batch: a topic's limit is on batches. */
const BATCH_BYTES = 2 ** 20;
const BATCH_RECORDS = 2_000;

/** Cuts a list into pieces that make one batch each; order is kept. */
export function chunks<T>(records: readonly T[], sizeOf: (record: T) => number): T[][] {
  const pieces: T[][] = [];
  let piece: T[] = [];
  let size = 0;
  for (const record of records) {
    const own = sizeOf(record);
    if (piece.length > 0 && (size + own > BATCH_BYTES || piece.length >= BATCH_RECORDS)) {
      pieces.push(piece);
      piece = [];
      size = 0;
    }
    piece.push(record);
    size += own;
  }
  if (piece.length > 0) pieces.push(piece);
  return pieces;
}
