/**
 * Content is text or JSON text. In JSON only the insides of strings are looked at and changed, so that it
 * stays JSON and everything else in it, numbers, spacing and names given twice too, stays as it was.
 */

function isJson(content: string): boolean {
  if (!looksLikeJson(content)) return false;
  try {
    JSON.parse(content);
    return true;
  } catch {
    return false;
  }
}

/** Begins as an object, a list or a string does; a bare number or word is its own text. */
function looksLikeJson(content: string): boolean {
  const first = content.charCodeAt(0);
  return first === 0x7b || first === 0x5b || first === 0x22;
}

/** The strings of a content, decoded: those of a JSON text in order, names too, or the text itself. */
export function stringsOf(content: string): string[] {
  if (!isJson(content)) return [content];
  const strings: string[] = [];
  rewrite(content, (token) => {
    strings.push(decoded(token));
    return token;
  });
  return strings;
}

/** The content with each of its strings changed by `change`; those it leaves alone keep their bytes. */
export function mapStrings(content: string, change: (text: string) => string): string {
  if (!isJson(content)) return change(content);
  return rewrite(content, (token) => {
    const text = decoded(token);
    const changed = change(text);
    return changed === text ? token : JSON.stringify(changed);
  });
}

/** What a scanner reads: the content, and in what looks like JSON the strings decoded where they stand. */
export function viewOf(content: string): string {
  if (!looksLikeJson(content) || !content.includes('\\')) return content;
  try {
    return rewrite(content, (token) => `"${decoded(token)}"`);
  } catch {
    return content;
  }
}

function decoded(token: string): string {
  return token.includes('\\') ? String(JSON.parse(token)) : token.slice(1, -1);
}

/** Hands every string of a JSON text, quotes included, to `change`. By hand: a pattern is three times slower. */
function rewrite(content: string, change: (token: string) => string): string {
  const parts: string[] = [];
  let done = 0;
  for (let open = content.indexOf('"'); open >= 0; open = content.indexOf('"', done)) {
    const end = closing(content, open + 1) + 1;
    if (end === 0) break;
    parts.push(content.slice(done, open), change(content.slice(open, end)));
    done = end;
  }
  parts.push(content.slice(done));
  return parts.join('');
}

/** The quote that closes the string begun before `from`; -1 when there is none. */
function closing(content: string, from: number): number {
  let at = content.indexOf('"', from);
  while (at >= 0) {
    let slashes = 0;
    while (content.charCodeAt(at - 1 - slashes) === 0x5c && at - 1 - slashes >= from) slashes++;
    if (slashes % 2 === 0) return at;
    at = content.indexOf('"', at + 1);
  }
  return -1;
}
