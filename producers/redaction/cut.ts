/** How far back a cut goes to the last white space, and how much of a run without any it drops: the longest secret known (tokens.ts). */
const LONGEST_RUN = 8192;

/**
 * The beginning of a text that was redacted only so far, so that no part of a secret is left that the cut went
 * through: the last run without white space goes.
 */
export function beginning(redacted: string): string {
  const least = Math.max(0, redacted.length - LONGEST_RUN);
  for (let at = redacted.length - 1; at >= least; at--) {
    const code = redacted.charCodeAt(at);
    if (code === 32 || (code >= 9 && code <= 13)) return redacted.slice(0, at + 1);
  }
  return redacted.slice(0, least).toWellFormed();
}

/** What stands where a text was cut. @param bytes of the whole */
export function cutMark(bytes: number): string {
  return `[CUT:${bytes}]`;
}

/**
 * The longest that each text may be so that all of them together fit: short ones stay whole, long ones share
 * what is left evenly.
 */
export function fairShare(lengths: readonly number[], room: number): number {
  const sorted = [...lengths].sort((a, b) => a - b);
  let left = room;
  for (const [index, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - index));
    if (length > share) return share;
    left -= length;
  }
  return Number.MAX_SAFE_INTEGER;
}
