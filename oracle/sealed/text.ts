import type { Sealer } from './sealer.ts';

/** What was sealed begins so; what an earlier release wrote does not, and is read as it is. */
const MARK = 'sealed:';

/** Whether a column holds what is sealed, in SQL. */
export const isSealedSql = (column: string): string => `substr(${column}, 1, ${MARK.length}) = '${MARK}'`;

/** Seals words for a column of text: why a run failed names tests. @param name it opens under no other. */
export function sealText(sealer: Sealer, name: string, text: string): string {
  return MARK + sealer.seal(name, Buffer.from(text)).toString('base64');
}

/** @throws FlipstreamError `store_sealed_otherwise` (fatal), as `Sealer.open` does. */
export function openText(sealer: Sealer, name: string, stored: string): string {
  if (!stored.startsWith(MARK)) return stored;
  return sealer.open(name, Buffer.from(stored.slice(MARK.length), 'base64')).toString();
}
