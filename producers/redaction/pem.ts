import type { Span } from './assignments.ts';

/**
 * Private keys in PEM form: whole, cut off (no END: to the end of what looks like its body; no BEGIN: back to
 * where it begins), and going on from an earlier piece of the same message.
 */
const MARK = /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** A body has one of these; a sentence about keys has none. */
const RUN = /[A-Za-z0-9+/=]{32}/;
/** A line of a body, with what diffs, listings and string literals put around it. */
const BODY_LINE =
  /^[ \t>|+'"-]{0,16}(?:\d{1,6}(?:\u2192|[ \t|:]))?[ \t+'"-]{0,8}(?:[A-Za-z0-9+/=]{0,512}|(?:Proc-Type|DEK-Info|Version|Comment):[^\n]{0,200})(?:\\[nr]|["',+ \t\r;\\]){0,12}$/;
/** A whole body on one line, its line ends written as `\n`. */
const ESCAPED_BODY = /^(?:\\{1,3}[nr]|[A-Za-z0-9+/=]){32,}["',;) ]{0,8}$/;
const MAX_ESCAPED = 16_384;
/** As openssl and ssh-keygen write them; a hash in hex is no such line. */
const FULL_LINE =
  /^(?=[^\n]*[g-zG-Z+/])(?=[^\n]*\d)(?:[A-Za-z0-9+/]{64}|[A-Za-z0-9+/]{70}|[A-Za-z0-9+/]{76})\r?$/;
const LAST_LINE = /^[A-Za-z0-9+/]{1,75}={0,2}\r?$/;

export interface PemFound {
  spans: Span[];
  /** A key had begun, or went on, and did not end. */
  open: boolean;
}

interface Mark {
  from: number;
  to: number;
  begin: boolean;
}

/**
 * @param continues null: a text by itself. For a later piece of a message: whether a key is known to have
 * been open before it; if not, lines that can only be a key's still count, since pieces are seen in parallel.
 */
export function privateKeys(text: string, continues: boolean | null = null): PemFound {
  const spans: Span[] = [];
  let at = 0;
  if (continues !== null) {
    at = leading(text, continues);
    if (at > 0) spans.push(span(0, at));
    if (at === text.length) return { spans, open: continues && !marksOf(text).some((mark) => !mark.begin) };
  }
  const marks = marksOf(text);
  let open = false;
  for (const [index, mark] of marks.entries()) {
    if (mark.from < at) continue;
    const next = marks[index + 1];
    const found = mark.begin ? fromBegin(text, mark, next) : toEnd(text, mark, at);
    if (mark.begin && !next)
      open = found === null ? text.slice(mark.to).trim() === '' : found.to === text.length;
    if (!found) continue;
    spans.push(found);
    at = found.to;
  }
  return { spans, open };
}

function span(from: number, to: number): Span {
  return { from, to, rule: 'private_key' };
}

function marksOf(text: string): Mark[] {
  if (!text.includes('PRIVATE KEY')) return [];
  return [...text.matchAll(MARK)].map((hit) => ({
    from: hit.index,
    to: hit.index + hit[0].length,
    begin: hit[1] === 'BEGIN',
  }));
}

function fromBegin(text: string, begin: Mark, next: Mark | undefined): Span | null {
  const to = next && !next.begin ? next.to : overBody(text, begin.to, next?.from ?? text.length);
  return RUN.test(text.slice(begin.to, to)) ? span(begin.from, to) : null;
}

/** @returns where the lines of a body end; a line that is none is not part of it */
function overBody(text: string, from: number, most: number): number {
  let at = from;
  while (at < most) {
    const end = lineEnd(text, at, most);
    if (!isBody(text.slice(at, end))) break;
    at = Math.min(most, end + 1);
  }
  return at;
}

function toEnd(text: string, end: Mark, least: number): Span | null {
  let from = end.from;
  while (from > least) {
    const start = Math.max(least, from < 2 ? 0 : text.lastIndexOf('\n', from - 2) + 1);
    const line = text.slice(start, from).replace(/\n$/, '');
    if (line.trim() === '' || !isBody(line)) break;
    from = start;
  }
  return RUN.test(text.slice(from, end.from)) ? span(from, end.to) : null;
}

function isBody(line: string): boolean {
  return BODY_LINE.test(line) || (line.length <= MAX_ESCAPED && ESCAPED_BODY.test(line));
}

function lineEnd(text: string, at: number, most: number): number {
  const newline = text.indexOf('\n', at);
  return newline < 0 || newline > most ? most : newline;
}

/** How much of a piece's beginning is the rest of a key. */
function leading(text: string, known: boolean): number {
  const [end] = marksOf(text);
  const ends = end !== undefined && !end.begin;
  const most = ends ? end.from : text.length;
  let at = 0;
  while (at < most) {
    const stop = lineEnd(text, at, most);
    const line = text.slice(at, stop);
    if (!(known ? isBody(line) : FULL_LINE.test(line))) {
      // after full lines, one shorter one is their last
      if (!known && at > 0 && LAST_LINE.test(line)) at = Math.min(most, stop + 1);
      break;
    }
    at = Math.min(most, stop + 1);
  }
  return ends && at === most && (known || at > 0) ? end.to : at;
}
