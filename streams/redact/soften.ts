/** Escapes whose last letter a scanner would take for the beginning of the token behind it. */

const [BACKSLASH, ESCAPE, BRACKET, LINE_BREAK] = [0x5c, 0x1b, 0x5b, 0x0a] as const;
const BREAKS = new Set(Buffer.from('bfnrt'));
const COLOURS = new Set(Buffer.from('mK'));
/** The escape character, as strings of JSON, C and shells write it. */
const WRITTEN = ['\\u001b', '\\u001B', '\\x1b', '\\x1B', '\\033', '\\e'].map((text) => Buffer.from(text));
/** Of a terminal's sequence, such as `1;31`. */
const MOST_PARAMETERS = 16;

/**
 * Makes line breaks of what stands for one and of the colours of a terminal, in place: everything else stays where it was.
 * @param bytes of a text, one a character
 */
export function soften(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== BACKSLASH && byte !== ESCAPE) continue;
    const end = endOfEscape(bytes, at);
    bytes.fill(LINE_BREAK, at, end);
    if (end > at) at = end - 1;
  }
}

/** @returns where what follows the escape begins; `at` when there is none */
function endOfEscape(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== ESCAPE && BREAKS.has(bytes[at + 1] ?? 0)) return at + 2;
  const long =
    bytes[at] === ESCAPE
      ? 1
      : WRITTEN.find((text) => text.every((byte, i) => bytes[at + i] === byte))?.length;
  return long !== undefined && bytes[at + long] === BRACKET ? endOfSequence(bytes, at + long + 1) : at;
}

/** Parameters and a letter; without any only the letters that colour, since another may be the token's own. */
function endOfSequence(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < from + MOST_PARAMETERS && isParameter(bytes[at] ?? 0)) at++;
  return at > from || COLOURS.has(bytes[at] ?? 0) ? Math.min(at + 1, bytes.length) : at;
}

function isParameter(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x3f;
}
