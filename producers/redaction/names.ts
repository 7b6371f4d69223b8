/** Which names tell that their value is a secret, and which values are none whatever their name. */

const KEYWORD =
  /secret|token|passw(?:or)?d|passphrase|pwd|credential|(?:api|access|private|auth|encryption|signing|account|master|shared)[_-]?key/gi;

/** A new expression, since one that is global remembers its place. */
export function keywords(): RegExp {
  return new RegExp(KEYWORD.source, 'gi');
}

/** Last words of names whose value tells about a secret and is none. */
const ABOUT =
  /(?:type|ur[il]|files?|path|dir|names?|ids?|counts?|limit|len|length|size|ttl|expiry|expires|expires_?in|expiration|enabled|required|endpoint|field|header|min|max|policy|hash|sha256|digest|fingerprint|prefix|suffix|format|regex|pattern|label|hint|help|prompt|index|idx|pos|position|start|end|budget|usage|rate|class|func|function|error|message|manager|store|provider|arn|version|ref|env|var|_at)$/i;

const MAX_NAME = 128;

/** Does the name say that its value is a secret? `MAX_TOKENS`, `tokenizer`, `token_type` do not. */
export function isSecretName(name: string): boolean {
  if (name.length > MAX_NAME || ABOUT.test(name)) return false;
  const found = keywords();
  for (let hit = found.exec(name); hit; hit = found.exec(name)) {
    const after = name.slice(hit.index + hit[0].length);
    const before = name.slice(0, hit.index);
    if (endsWord(hit[0], after) && beginsWord(hit[0], before)) return true;
  }
  return false;
}

/** `tokenize` and `tokens` go on in the same word; `tokenValue`, `TOKEN_2` and `token` do not. */
function endsWord(word: string, after: string): boolean {
  const next = after[0];
  if (next === undefined || !/[A-Za-z]/.test(next)) return true;
  return /[a-z]$/.test(word) && /[A-Z]/.test(next);
}

/** `detoken` is another word; `myToken`, `MY_TOKEN`, `authtoken` and `PGPASSWORD` are not. */
function beginsWord(word: string, before: string): boolean {
  if (!/[A-Za-z]$/.test(before)) return true;
  if (/^[A-Z]/.test(word) && /[a-z]$/.test(before)) return true;
  return (
    /^(?:passw|secret|token)/i.test(word) && before.length <= 12 && !/(?:de|en|re|sub|un)$/i.test(before)
  );
}

/** Variables, templates, placeholders, paths, addresses and the beginnings of code. */
const NOT_A_VALUE =
  /^(?:[$%<{*#[(]|x{3}|\.{3}|-{3}|your|my[_-]|change|example|placeholder|dummy|sample|test|fake|mock|foo|none|null|true|false|undefined|redacted|process\.|os\.|env\.|self\.|this\.|import|require|\/(?:[\w.-]+\/)|\.{1,2}\/|~\/|https?:|function|return|await|new |string|number|boolean)/i;

export interface Value {
  text: string;
  quoted: boolean;
  /** Written as `NAME=value`, as in an environment or a shell. */
  env: boolean;
  /** There was space around the sign: code, or an INI file. */
  spaced: boolean;
}

/** Is what stands there a secret itself, and not code, a placeholder or a word about one? */
export function isSecretValue(name: string, value: Value): boolean {
  const { text } = value;
  if (text.length < 6 || NOT_A_VALUE.test(text)) return false;
  if (name.toLowerCase().includes(text.toLowerCase())) return false;
  const digit = /[0-9]/.test(text);
  if (!/[A-Za-z]/.test(text)) return !value.spaced && value.env && text.length >= 10;
  if (value.env && !value.spaced) return value.quoted || digit || !/^[A-Za-z_]\w*\.[A-Za-z_]/.test(text);
  if (text.length < 8 || /\s/.test(text)) return false;
  const password = /pass|pwd/i.test(name);
  if (value.quoted) return digit || (password && /^[^\s_.:/]+$/.test(text));
  if (/^[A-Za-z_]\w*(?:\.\w+)+$/.test(text)) return false;
  if (value.spaced && !password)
    return (
      text.length >= 16 &&
      digit &&
      /[a-z]/.test(text) &&
      /[A-Z]/.test(text) &&
      !/^[A-Za-z_]\w{0,30}$/.test(text)
    );
  if (!password && /^[A-Za-z_]+\d{0,3}[A-Za-z_]*$/.test(text)) return false; // Uint8Array, sha256
  return digit && !/^[a-z]+(?:_[a-z0-9]+)*$/.test(text);
}
