import { assignments, type Span } from './assignments.ts';
import { credentials } from './headers.ts';
import { privateKeys } from './pem.ts';
import { TOKEN_RULES, TOKEN_TRIGGER } from './tokens.ts';

export interface RedactedText {
  text: string;
  /** How many places were replaced. */
  hits: number;
}

/**
 * The floor: what is known to be a secret by its form or its name is replaced by `[REDACTED:<rule>]`; all else
 * stays as it is. Linear time: every expression is bounded, and each place is looked at a bounded number of
 * times (tokens.ts, assignments.ts).
 */
export function redactText(text: string): RedactedText {
  return replace(text, privateKeys(text).spans);
}

/**
 * A piece of a message that comes in pieces.
 * @param openBefore whether an earlier piece is known to have begun a private key that has not ended
 * @returns also whether one is open after it
 */
export function redactPiece(
  text: string,
  index: number,
  openBefore: boolean,
): RedactedText & { open: boolean } {
  const pem = privateKeys(text, index > 0 ? openBefore : null);
  return { ...replace(text, pem.spans), open: pem.open };
}

const NAMED = /secret|token|passw|passphrase|pwd|credential|key/i;

function replace(text: string, pem: Span[]): RedactedText {
  const spans = [...pem];
  if (TOKEN_TRIGGER.test(text))
    for (const { name, pattern } of TOKEN_RULES)
      for (const hit of text.matchAll(pattern))
        spans.push({ from: hit.index, to: hit.index + hit[0].length, rule: name });
  spans.push(...credentials(text));
  if (NAMED.test(text)) spans.push(...assignments(text));
  if (spans.length === 0) return { text, hits: 0 };
  // Of those that overlap the first and longest counts: a key's own rule before the name it stands under.
  spans.sort((a, b) => a.from - b.from || b.to - a.to);
  const parts: string[] = [];
  let at = 0;
  let hits = 0;
  for (const span of spans) {
    if (span.to <= at) continue;
    if (span.from < at) {
      at = span.to;
      continue;
    }
    parts.push(text.slice(at, span.from), `[REDACTED:${span.rule}]`);
    at = span.to;
    hits++;
  }
  parts.push(text.slice(at));
  return { text: parts.join(''), hits };
}
