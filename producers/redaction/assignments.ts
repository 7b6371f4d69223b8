import { isSecretName, isSecretValue, keywords } from './names.ts';

/** Where a text is to be replaced. */
export interface Span {
  from: number;
  to: number;
  rule: string;
}

/** Names are looked at so far to both sides of a keyword, values so far: what bounds the work at each keyword. */
const MAX_SIDE = 64;
const MAX_UNQUOTED = 512;
const MAX_QUOTED = 4096;

/** `NAME=value`, `"name": "value"`, `name: value`, also inside escaped JSON; the value is the span. */
export function assignments(text: string): Span[] {
  const spans: Span[] = [];
  const found = keywords();
  for (let hit = found.exec(text); hit; hit = found.exec(text)) {
    const from = backOverName(text, hit.index);
    const to = overName(text, hit.index + hit[0].length);
    const span = valueAfter(text, text.slice(from, to), to);
    if (span) spans.push(span);
    found.lastIndex = span ? span.to : to;
  }
  return spans;
}

function backOverName(text: string, at: number): number {
  let from = at;
  while (from > 0 && at - from < MAX_SIDE && isNameChar(text.charCodeAt(from - 1))) from--;
  return from;
}

function overName(text: string, at: number): number {
  let to = at;
  while (to < text.length && to - at < MAX_SIDE && isNameChar(text.charCodeAt(to))) to++;
  return to;
}

/** Letters, digits, `_` and `-`. */
function isNameChar(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 45
  );
}

const SIGN = /\\{0,3}["']?([ \t]{0,8})(=>|:=|=|:)(?![=:])([ \t]{0,8})/y;
const OPENING = /\\{0,3}["'`]/y;
const UNQUOTED = new RegExp(`[^\\s"'\`,;&|<>(){}\\[\\]\\\\]{1,${MAX_UNQUOTED}}`, 'y');

function valueAfter(text: string, name: string, at: number): Span | null {
  SIGN.lastIndex = at;
  const sign = SIGN.exec(text);
  if (!sign || !isSecretName(name)) return null;
  const start = SIGN.lastIndex;
  // YAML puts space behind its colon and none before
  const spaced = sign[1] !== '' || (sign[2] !== ':' && sign[3] !== '');
  const env = sign[2] === '=' && !/[a-z]/.test(name);
  OPENING.lastIndex = start;
  const opening = OPENING.exec(text);
  if (opening) {
    const from = OPENING.lastIndex;
    const to = closing(text, from, opening[0]);
    const value = { text: text.slice(from, to), quoted: true, env, spaced };
    return isSecretValue(name, value) ? { from, to, rule: 'named_value' } : null;
  }
  UNQUOTED.lastIndex = start;
  const plain = UNQUOTED.exec(text);
  if (!plain || /[([]/.test(text[UNQUOTED.lastIndex] ?? '')) return null;
  const value = { text: plain[0], quoted: false, env, spaced };
  return isSecretValue(name, value) ? { from: start, to: UNQUOTED.lastIndex, rule: 'named_value' } : null;
}

/** The end of a quoted value: its closing quote, the end of the line, or as far as is looked. */
function closing(text: string, from: number, quote: string): number {
  const most = Math.min(text.length, from + MAX_QUOTED);
  for (let at = from; at < most; at++) {
    const char = text[at];
    if (char === '\n' || text.startsWith(quote, at)) return at;
    if (char === '\\' && quote.length === 1) at++;
  }
  return most;
}
