/** A unified diff of two texts, for showing a change before it is made. */

const CONTEXT = 3;

interface Line {
  mark: ' ' | '+' | '-';
  text: string;
}

/**
 * Lines that differ, with three of context around them, as git prints them and `git apply` in the root folder takes
 * them; empty when the texts are the same.
 * @param before null: there is no such file yet; as `after`: it goes
 * @param path absolute
 */
export function unifiedDiff(before: string | null, after: string | null, path: string): string {
  if ((before ?? '') === (after ?? '')) return '';
  const lines = compare(splitLines(before ?? ''), splitLines(after ?? ''));
  return [
    `--- ${before === null ? NO_FILE : named('a', path)}\n`,
    `+++ ${after === null ? NO_FILE : named('b', path)}\n`,
    ...hunks(lines).flatMap((hunk) => [headOf(hunk), ...hunk.lines.map(printed)]),
  ].join('');
}

const NO_FILE = '/dev/null';

/** A name with a space in it is ended by a tab. */
function named(side: 'a' | 'b', path: string): string {
  return `${side}${path}${path.includes(' ') ? '\t' : ''}`;
}

interface Hunk {
  /** Lines of either text that come before it. */
  old: number;
  fresh: number;
  lines: Line[];
}

function hunks(lines: readonly Line[]): Hunk[] {
  const found: Hunk[] = [];
  let [old, fresh] = [0, 0];
  let open: Hunk | null = null;
  for (const [i, line] of lines.entries()) {
    const near = lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(({ mark }) => mark !== ' ');
    if (!near) open = null;
    else if (open) open.lines.push(line);
    else {
      open = { old, fresh, lines: [line] };
      found.push(open);
    }
    if (line.mark !== '+') old += 1;
    if (line.mark !== '-') fresh += 1;
  }
  return found;
}

function headOf({ old, fresh, lines }: Hunk): string {
  const range = (before: number, other: Line['mark']) => {
    const count = lines.filter(({ mark }) => mark !== other).length;
    return `${count === 0 ? before : before + 1}${count === 1 ? '' : `,${count}`}`;
  };
  return `@@ -${range(old, '+')} +${range(fresh, '-')} @@\n`;
}

function printed({ mark, text }: Line): string {
  return `${mark}${text}${text.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`;
}

/** Each with its end. */
function splitLines(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/** Longest common subsequence of lines; settings files are short, so the table of it is small. */
function compare(a: readonly string[], b: readonly string[]): Line[] {
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ mark: ' ', text: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (j < b.length && (i >= a.length || at(i, j + 1) > at(i + 1, j))) {
      lines.push({ mark: '+', text: b[j] ?? '' });
      j += 1;
    } else {
      lines.push({ mark: '-', text: a[i] ?? '' });
      i += 1;
    }
  }
  return lines;
}
