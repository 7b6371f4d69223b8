const ESCAPES: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };

/**
 * Reads one name from the start of `text`, as git writes it: bare up to the end, or quoted as in C.
 * @returns the name's bytes as latin1 and what follows it, or null when the quoting is broken.
 */
function readName(text: string): { name: string; rest: string } | null {
  if (!text.startsWith('"')) return { name: text, rest: '' };
  let name = '';
  for (let at = 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"') return { name, rest: text.slice(at + 1) };
    if (char !== '\\') {
      name += char;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(text.slice(at + 1, at + 4))?.[0];
    const code = octal === undefined ? ESCAPES[text.charAt(at + 1)] : Number.parseInt(octal, 8);
    if (code === undefined) return null;
    name += String.fromCharCode(code);
    at += octal === undefined ? 1 : 3;
  }
  return null;
}

/** A whole line that is one name; null when anything else is in it. */
export function wholeName(text: string): string | null {
  const read = readName(text);
  return read && read.rest === '' ? read.name : null;
}

/** The two names of `a/<old> b/<new>`, in every way that the line can be read: names may hold spaces. */
export function headerNames(text: string): [string, string][] {
  const found: [string, string][] = [];
  const add = (left: string | null, right: string | null) => {
    if (left?.startsWith('a/') && right?.startsWith('b/')) found.push([left.slice(2), right.slice(2)]);
  };
  if (text.startsWith('"')) {
    const first = readName(text);
    if (first?.rest.startsWith(' ')) add(first.name, wholeName(first.rest.slice(1)));
    return found;
  }
  for (let at = text.indexOf(' '); at >= 0; at = text.indexOf(' ', at + 1)) {
    const right = text.slice(at + 1);
    if (right.startsWith('b/') || right.startsWith('"b/')) add(text.slice(0, at), wholeName(right));
  }
  return found;
}

/**
 * The path as text, or null for one that no repository should hold: not UTF-8, control characters, backslashes,
 * absolute, with empty, `.` or `..` parts, or reaching into a `.git`.
 */
export function saneName(latin1: string): string | null {
  const bytes = Buffer.from(latin1, 'latin1');
  const name = bytes.toString('utf8');
  if (!Buffer.from(name, 'utf8').equals(bytes)) return null;
  // Format characters: invisible ones, and those HFS+ ignores so that `.g<ZWNJ>it` becomes `.git`.
  if (/[\p{Cc}\p{Cf}\\]/u.test(name) || name.length > 1024) return null;
  const parts = name.split('/');
  const odd = (part: string) =>
    part === '' ||
    part === '.' ||
    part === '..' ||
    /^(\.git|git~\d+)[ .]*$/i.test(part) ||
    /^\.git[ .]*:/i.test(part);
  return parts.some(odd) ? null : name;
}
