import { messageOf } from './errors.ts';

/**
 * What JSON.parse reads, with errors that may be shown: V8 puts a piece of the text into its messages, and that piece
 * may be a secret. Ours say where the text stops being JSON and quote nothing of it.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  let refusal: string;
  try {
    return JSON.parse(text);
  } catch (error) {
    refusal = messageOf(error);
  }
  throw new SyntaxError(problemOf(text, refusal));
}

/** Beyond it the place of a wrong token, which takes reading the text twenty times, is not looked for. Characters. */
const SEARCHED = 2 ** 20;

function problemOf(text: string, refusal: string): string {
  if (text.trim() === '') return 'it is empty, and no JSON';
  if (refusal.startsWith('Unexpected end')) return 'it ends before its JSON does';
  const told = / at position (\d+)/.exec(refusal)?.[1];
  if (told === undefined && text.length > SEARCHED) return 'it is no JSON';
  const before = text.slice(0, told === undefined ? wrongToken(text) : Number(told)).split('\n');
  return `it stops being JSON at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** The offset of the token that V8 names without its place: the longest beginning that is not refused for it. */
function wrongToken(text: string): number {
  let [good, bad] = [0, text.length];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (hasWrongToken(text.slice(0, middle))) bad = middle;
    else good = middle;
  }
  return good;
}

function hasWrongToken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return messageOf(error).startsWith('Unexpected token');
  }
}
