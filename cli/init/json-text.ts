/**
 * Edits JSON text in place, so that a file of someone else's keeps its order, indentation and every byte we
 * have no business with. The text must be valid JSON: JSON.parse is asked first, the scanner relies on it.
 */

export interface Node {
  start: number;
  end: number;
  kind: 'object' | 'array' | 'scalar';
  /** Members of an object with their keys, items of an array; `start` is where the key or the item begins. */
  parts: { start: number; key: string | null; value: Node }[];
}

/** The tree of a JSON text with offsets. @throws SyntaxError as JSON.parse does. */
export function parseTree(text: string): Node {
  const from = text.startsWith('\ufeff') ? 1 : 0;
  JSON.parse(text.slice(from));
  return scan(text, skip(text, from));
}

function scan(text: string, start: number): Node {
  const open = text[start];
  if (open !== '{' && open !== '[') return { start, end: scalarEnd(text, start), kind: 'scalar', parts: [] };
  const node: Node = { start, end: start, kind: open === '{' ? 'object' : 'array', parts: [] };
  let at = skip(text, start + 1);
  while (text[at] !== '}' && text[at] !== ']') {
    const partStart = at;
    let key: string | null = null;
    if (node.kind === 'object') {
      const keyEnd = scalarEnd(text, at);
      key = String(JSON.parse(text.slice(at, keyEnd)));
      at = skip(text, skip(text, keyEnd) + 1);
    }
    const value = scan(text, at);
    node.parts.push({ start: partStart, key, value });
    at = skip(text, value.end);
    if (text[at] === ',') at = skip(text, at + 1);
  }
  node.end = at + 1;
  return node;
}

function skip(text: string, at: number): number {
  let i = at;
  while (' \t\r\n'.includes(text[i] ?? 'x')) i += 1;
  return i;
}

function scalarEnd(text: string, start: number): number {
  if (text[start] !== '"') {
    const rest = /[^\s,\]}:]*/y;
    rest.lastIndex = start;
    rest.exec(text);
    return rest.lastIndex;
  }
  let i = start + 1;
  while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i + 1;
}

/** The member of an object; of a key written twice the last, as JSON.parse takes it. */
export function member(node: Node | undefined, key: string): Node | undefined {
  return node?.parts.findLast((part) => part.key === key)?.value;
}

/** How a file is laid out: the indentation of its first member, and its line ends. */
export interface Layout {
  indent: string;
  eol: string;
}

export function layoutOf(text: string): Layout {
  const indent = /^[ \t]+(?=["{[])/m.exec(text)?.[0] ?? '  ';
  return { indent, eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

/** A text and where it is to be put in. */
export interface Insertion {
  offset: number;
  text: string;
}

/** Puts members (with keys) or items at the end of a container that lies `depth` levels deep. */
export function appended(
  source: string,
  container: Node,
  parts: readonly { key?: string; value: unknown }[],
  depth: number,
  layout: Layout,
): Insertion {
  const inner = layout.eol + layout.indent.repeat(depth + 1);
  const text = parts
    .map(({ key, value }) => {
      const json = JSON.stringify(value, null, layout.indent).replaceAll('\n', inner);
      return inner + (key === undefined ? '' : `${JSON.stringify(key)}: `) + json;
    })
    .join(',');
  const last = container.parts.at(-1);
  if (last) return { offset: last.value.end, text: `,${text}` };
  const closesOnOwnLine = /\n[^\S\n]*$/.test(source.slice(container.start + 1, container.end - 1));
  const tail = closesOnOwnLine ? '' : layout.eol + layout.indent.repeat(depth);
  return { offset: container.start + 1, text: text + tail };
}

export function insert(text: string, insertions: readonly Insertion[]): string {
  return insertions
    .toSorted((a, b) => b.offset - a.offset)
    .reduce((done, { offset, text: added }) => done.slice(0, offset) + added + done.slice(offset), text);
}

/** The text without one part of a container, its comma and the space before it gone with it. */
export function without(text: string, container: Node, index: number): string {
  const part = container.parts[index];
  if (!part) return text;
  const before = container.parts[index - 1];
  const after = container.parts[index + 1];
  if (before) return text.slice(0, before.value.end) + text.slice(part.value.end);
  if (after) return text.slice(0, part.start) + text.slice(after.start);
  return text.slice(0, container.start + 1) + text.slice(container.end - 1);
}
