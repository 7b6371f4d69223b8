/**
 * Edits JSON text in place, so that a file of someone else's keeps its order, indentation, comments and every byte
 * we have no business with. jsonc-parser reads; the edits are our own (docs/decisions/0007-edits-of-our-own.md).
 */
import { applyEdits, type Node, type ParseError, parseTree, stripComments } from 'jsonc-parser';

export type { Node } from 'jsonc-parser';

/** The tree of a JSON text with offsets; comments and a comma too many are taken as editors write them. @throws SyntaxError */
export function readTree(text: string): Node {
  const errors: ParseError[] = [];
  // A space for the byte order mark, which the parser does not know: offsets stay.
  const root = parseTree(text.replace(/^\ufeff/, ' '), errors, { allowTrailingComma: true });
  if (root && errors.length === 0) return root;
  const line = text.slice(0, errors[0]?.offset ?? 0).split('\n').length;
  throw new SyntaxError(`line ${line} cannot be read`);
}

/** The member of an object. @throws SyntaxError for a key that is there twice: programs differ in which they take. */
export function member(node: Node | undefined, key: string): Node | undefined {
  if (node?.type !== 'object') return undefined;
  const found = node.children?.filter((property) => property.children?.[0]?.value === key) ?? [];
  if (found.length > 1) throw new SyntaxError(`"${key}" is there twice`);
  return found[0]?.children?.[1];
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
  const last = container.children?.at(-1);
  if (last) return { offset: endOf(last), text: `,${text}` };
  const inside = source.slice(container.offset + 1, endOf(container) - 1);
  const tail = /\n[^\S\n]*$/.test(inside) ? '' : layout.eol + layout.indent.repeat(depth);
  return { offset: container.offset + 1, text: text + tail };
}

export function insert(text: string, insertions: readonly Insertion[]): string {
  return applyEdits(
    text,
    insertions.map(({ offset, text: content }) => ({ offset, length: 0, content })),
  );
}

/** The text without one part of a container and its comma. Comments beside it stay. */
export function without(text: string, container: Node, index: number): string {
  const parts = container.children ?? [];
  const [before, part, after] = [parts[index - 1], parts[index], parts[index + 1]];
  if (!part) return text;
  const from = before ? endOf(before) : container.offset + 1;
  const to = after?.offset ?? endOf(container) - 1;
  const lead = text.slice(from, part.offset);
  const tail = text.slice(endOf(part), to);
  if (!before && !after && /^[\s,]*$/.test(lead + tail)) return text.slice(0, from) + text.slice(to);
  // The space before it goes as well, unless it ends a line comment.
  const space = uncommented(lead) === lead ? lead.length - lead.trimEnd().length : 0;
  const comma = before ? from + uncommented(lead).indexOf(',') : endOf(part) + uncommented(tail).indexOf(',');
  const hasComma = before !== undefined || uncommented(tail).includes(',');
  return applyEdits(text, [
    { offset: part.offset - space, length: part.length + space, content: '' },
    ...(hasComma ? [{ offset: comma, length: 1, content: '' }] : []),
  ]);
}

const endOf = (node: Node) => node.offset + node.length;
const uncommented = (text: string) => stripComments(text, ' ');
