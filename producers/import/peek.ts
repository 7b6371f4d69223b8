/** What the beginning of a file shows of it, for a format to be recognised by. */
import { asPayload, type Payload } from '../adapters/payload.ts';
import { createSlicer } from './document.ts';
import { createLineSplitter } from './lines.ts';

export interface Peek {
  /** The objects that the first lines are, where every line is one. */
  lines: readonly Payload[];
  /** The root, when the file is one JSON document. */
  root: 'object' | 'array' | null;
  /** Names of the root object's fields that can be seen. */
  names: ReadonlySet<string>;
  /** The root object's fields that can be seen whole; of an array's root, nothing. */
  fields: Payload;
  /** Of a root array, its first objects. */
  elements: readonly Payload[];
}

const LINES = 20;

export function peek(head: Buffer): Peek {
  const lines = firstLines(head);
  const start = head
    .toString('latin1', 0, 4096)
    .replace(/^\u00ef\u00bb\u00bf/, '')
    .trimStart()
    .slice(0, 1);
  const root = start === '{' ? 'object' : start === '[' ? 'array' : null;
  if (root === null) return { lines: [], root, names: new Set(), fields: {}, elements: [] };
  const fields: Record<string, unknown> = {};
  const elements: Payload[] = [];
  const slicer = createSlicer({ split: new Set(), most: head.length });
  for (const { key, bytes } of slicer.feed(head)) {
    const value = bytes && parse(bytes);
    if (key !== null) fields[key] = value;
    const element = root === 'array' ? asPayload(value) : null;
    if (element && elements.length < LINES) elements.push(element);
  }
  // the one that the beginning ends in is often the long list of steps
  const cut = slicer.field();
  return {
    lines,
    root,
    names: new Set([...Object.keys(fields), ...(cut === null ? [] : [cut])]),
    fields,
    elements,
  };
}

function firstLines(head: Buffer): Payload[] {
  const found: Payload[] = [];
  const splitter = createLineSplitter(head.length);
  for (const { bytes } of splitter.feed(head)) {
    const text = bytes?.toString('utf8').trim() ?? '';
    if (text === '') continue;
    const value = asPayload(parse(text));
    if (value) found.push(value);
    if (found.length >= LINES) break;
  }
  if (found.length === 0) {
    const rest = splitter.end()[0]?.bytes;
    const only = rest ? asPayload(parse(rest)) : null;
    if (only) found.push(only);
  }
  return found;
}

function parse(text: string | Buffer): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return null;
  }
}
