/** An escape up to its last character: of a terminal's colours, as such and written out; of strings in JSON, C and shells; of a URL. */
const ESCAPE = [
  String.raw`(?:\x1b|\\(?:u001[bB]|x1[bB]|033|e))\[[0-?]{0,16}`,
  String.raw`\x1b[()]?|\\(?:u[\dA-Fa-f]{3}|x[\dA-Fa-f]|[0-7]{1,2})?`,
  '%[\\dA-Fa-f]',
].join('|');

/**
 * Where a word may begin, as the beginning of an expression: not within another, for `task_live_…` is no key, nor is part
 * of an identifier. The letter that ends an escape is none of the word behind it, as in `\u001b[32mtoken` or `\ntoken`.
 * @param letters what words are made of, as within `[]`
 */
export function wordStart(letters: string): string {
  return `(?<!(?<!${ESCAPE})[${letters}])`;
}
