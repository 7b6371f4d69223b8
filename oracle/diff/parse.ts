import { headerNames, wholeName } from './names.ts';

/** One `diff --git` section. Names are latin1 of their bytes, null where the file is not there on that side. */
export interface Section {
  /** The section as it stands in the diff, latin1. */
  raw: string;
  oldName: string | null;
  newName: string | null;
  /** Every file mode that the section names. */
  modes: string[];
}

export type Parsed = { sections: Section[] } | { unparseable: string };

/**
 * Splits a diff as `git diff --binary` prints it. Every line must have its place in git's grammar: `git apply`
 * itself skips what it does not know and takes a bare `---`/`+++` pair for a further file, so a tolerant parser
 * would be told less than it applies.
 */
export function parseDiff(diff: Buffer): Parsed {
  if (diff.length === 0) return { sections: [] };
  const lines = diff.toString('latin1').split('\n');
  if (lines.pop() !== '') return { unparseable: 'the last line is cut short' };
  const sections: Section[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = sectionEnd(lines, at);
    if (typeof end === 'string') return { unparseable: `line ${at + 1}: ${end}` };
    sections.push(end.section);
    at = end.next;
  }
  return { sections };
}

interface Header {
  old?: string;
  new?: string;
  /** Whether a rename or copy named this side. */
  from: boolean;
  to: boolean;
  added: boolean;
  deleted: boolean;
  modes: string[];
}

/** Two paths of Linux's longest, each byte of them quoted; there are many ways to read a line of many ` b/`. */
const LONGEST_HEADER = 2 * 4 * 4096 + 64;

function sectionEnd(lines: string[], start: number): { section: Section; next: number } | string {
  const first = lines[start];
  if (!first?.startsWith('diff --git ')) return 'expected "diff --git"';
  if (first.length > LONGEST_HEADER) return 'a header that is longer than two names can be';
  const candidates = headerNames(first.slice(11));
  const header: Header = { added: false, deleted: false, from: false, to: false, modes: [] };
  let at = start + 1;
  while (at < lines.length) {
    const known = extendedHeader(lines[at] ?? '', header);
    if (known === 'broken') return 'a broken header';
    if (known === 'other') break;
    at++;
  }
  const body = readBody(lines, at, header);
  if (typeof body === 'string') return body;
  const names = agree(candidates, header);
  if (!names) return 'the names of the header do not agree';
  const raw = lines
    .slice(start, body.next)
    .map((line) => `${line}\n`)
    .join('');
  return {
    section: {
      raw,
      oldName: header.added ? null : names[0],
      newName: header.deleted ? null : names[1],
      modes: header.modes,
    },
    next: body.next,
  };
}

/** The one reading of the header line that the other lines allow; the names differ only in a rename or a copy. */
function agree(candidates: [string, string][], header: Header): [string, string] | null {
  const moved = header.from && header.to;
  if (header.from !== header.to) return null;
  const [only, ...more] = candidates.filter(
    ([left, right]) =>
      (moved || left === right) &&
      (header.old === undefined || header.old === left) &&
      (header.new === undefined || header.new === right),
  );
  return only && more.length === 0 ? only : null;
}

const MODE = /^(old mode|new mode|deleted file mode|new file mode) ([0-7]{6})$/;
const MOVE = /^(rename|copy) (from|to) (.+)$/s;
const INDEX = /^index [0-9a-f]{4,64}\.\.[0-9a-f]{4,64}(?: ([0-7]{6}))?$/;
const SIMILAR = /^(similarity|dissimilarity) index \d{1,3}%$/;

function extendedHeader(line: string, header: Header): 'known' | 'other' | 'broken' {
  const mode = MODE.exec(line);
  if (mode) {
    header.modes.push(mode[2] ?? '');
    if (mode[1] === 'new file mode') header.added = true;
    if (mode[1] === 'deleted file mode') header.deleted = true;
    return header.added && header.deleted ? 'broken' : 'known';
  }
  const move = MOVE.exec(line);
  if (move) {
    header[move[2] === 'from' ? 'from' : 'to'] = true;
    return setName(header, move[2] === 'from' ? 'old' : 'new', wholeName(move[3] ?? ''));
  }
  const index = INDEX.exec(line);
  if (index?.[1] !== undefined) header.modes.push(index[1]);
  return index || SIMILAR.test(line) ? 'known' : 'other';
}

function setName(header: Header, side: 'old' | 'new', name: string | null): 'known' | 'broken' {
  if (name === null || (header[side] !== undefined && header[side] !== name)) return 'broken';
  header[side] = name;
  return 'known';
}

function readBody(lines: string[], at: number, header: Header): { next: number } | string {
  const line = lines[at];
  if (line === undefined || line.startsWith('diff --git ')) return { next: at };
  if (line === 'GIT binary patch') return readBinary(lines, at + 1);
  if (!line.startsWith('--- ')) return `unexpected ${JSON.stringify(line.slice(0, 40))}`;
  const next = lines[at + 1] ?? '';
  if (!next.startsWith('+++ ')) return 'a "---" without its "+++"';
  if (!sideName(header, 'old', line.slice(4), 'a/') || !sideName(header, 'new', next.slice(4), 'b/'))
    return 'the names of the header do not agree';
  return readHunks(lines, at + 2);
}

function sideName(header: Header, side: 'old' | 'new', text: string, prefix: string): boolean {
  // git puts a tab behind a bare name with a space in it.
  const name = wholeName(text.replace(/\t$/, ''));
  const gone = side === 'old' ? header.added : header.deleted;
  if (name === '/dev/null') return gone;
  if (gone || name === null || !name.startsWith(prefix)) return false;
  return setName(header, side, name.slice(2)) === 'known';
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

function readHunks(lines: string[], start: number): { next: number } | string {
  let at = start;
  for (let hunk = HUNK.exec(lines[at] ?? ''); hunk; hunk = HUNK.exec(lines[at] ?? '')) {
    let old = Number(hunk[1] ?? 1);
    let added = Number(hunk[2] ?? 1);
    at++;
    while (old > 0 || added > 0 || lines[at]?.startsWith('\\ ')) {
      const kind = lines[at]?.charAt(0);
      if (kind === undefined) return 'a hunk is cut short';
      if (kind === ' ' || kind === '' || kind === '-') old--;
      if (kind === ' ' || kind === '' || kind === '+') added--;
      if (old < 0 || added < 0 || !' +-\\'.includes(kind)) return 'a hunk does not have the lines it says';
      at++;
    }
  }
  if (at === start) return 'no hunk after the names';
  return { next: at }; // whatever follows has to be a section
}

function readBinary(lines: string[], start: number): { next: number } | string {
  let at = start;
  let blocks = 0;
  while (/^(literal|delta) \d+$/.test(lines[at] ?? '')) {
    at++;
    while (/^[A-Za-z][0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{5,65}$/.test(lines[at] ?? '')) at++;
    if (lines[at] !== '') return 'a binary patch is cut short';
    at++;
    blocks++;
  }
  if (blocks < 1 || blocks > 2) return 'not a binary patch';
  return { next: at }; // whatever follows has to be a section
}
