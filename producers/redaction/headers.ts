import type { Span } from './assignments.ts';
import { wordStart } from './word-start.ts';

const START = wordStart('A-Za-z0-9');
const SCHEME = new RegExp(`${START}(bearer|basic)[ \\t]{1,4}([A-Za-z0-9+/_~.=-]{12,4096})`, 'gi');
const USERINFO = /:\/\/([^\s/:@"'`<>\\[]{0,128}):([^\s/@"'`<>\\]{3,256})@/g;
const TOKEN_AS_USER = /:\/\/([A-Za-z0-9_-]{20,255})@/g;
const HEADER = new RegExp(
  String.raw`${START}(?:proxy-)?authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:token|apikey|key)[ \t]{1,4}([^\s"'\\]{12,1024})`,
  'gi',
);

/** Credentials in headers (`Authorization: Bearer …`) and in URLs (`scheme://user:password@host`). */
export function credentials(text: string): Span[] {
  const spans: Span[] = [];
  if (/bearer|basic|authorization/i.test(text)) {
    for (const hit of text.matchAll(SCHEME)) {
      const [all, scheme = '', value = ''] = hit;
      const secret =
        scheme.toLowerCase() === 'basic' ? isUserAndPassword(value) : value.length >= 16 && /\d/.test(value);
      if (secret) spans.push(tail(hit.index + all.length, value, `${scheme.toLowerCase()}_header`));
    }
    for (const hit of text.matchAll(HEADER))
      spans.push(tail(hit.index + hit[0].length, hit[1] ?? '', 'authorization_header'));
  }
  if (text.includes('://')) {
    for (const hit of text.matchAll(USERINFO)) {
      const value = hit[2] ?? '';
      if (!/^[$%{<*[(]|^(?:password|passwd|pass|pwd|secret|token)$/i.test(value))
        spans.push(tail(hit.index + hit[0].length - 1, value, 'url_password'));
    }
    for (const hit of text.matchAll(TOKEN_AS_USER))
      if (/\d/.test(hit[1] ?? '')) spans.push(tail(hit.index + hit[0].length - 1, hit[1] ?? '', 'url_token'));
  }
  return spans;
}

function tail(to: number, value: string, rule: string): Span {
  return { from: to - value.length, to, rule };
}

function isUserAndPassword(value: string): boolean {
  const text = Buffer.from(value, 'base64').toString('latin1');
  return /^[\x20-\x7e]+:[\x20-\x7e]*$/.test(text);
}
