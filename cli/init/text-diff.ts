/** A unified diff of two texts, for showing a change before it is made. */

const CONTEXT = 3;

interface Line {
  mark: ' ' | '+' | '-';
  text: string;
}

/** Lines that differ, with three of context around them; empty when the texts are the same. */
export function unifiedDiff(before: string, after: string, name: string): string {
  if (before === after) return '';
  const lines = compare(splitLines(before), splitLines(after));
  const shown = lines.map((_, i) =>
    lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some((line) => line.mark !== ' '),
  );
  const out = [`--- ${name}`, `+++ ${name}`];
  let old = 1;
  let fresh = 1;
  lines.forEach((line, i) => {
    if (shown[i] && !shown[i - 1]) out.push(`@@ -${old} +${fresh} @@`);
    if (shown[i]) out.push(line.mark + line.text);
    if (line.mark !== '+') old += 1;
    if (line.mark !== '-') fresh += 1;
  });
  return `${out.join('\n')}\n`;
}

function splitLines(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
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
