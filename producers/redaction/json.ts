import { beginning, cutMark, fairShare } from './cut.ts';
import { isSecretName, isSecretValue } from './names.ts';
import { type RedactedText, redactText } from './text.ts';

export interface RedactedJson extends RedactedText {
  cut: boolean;
}

const MAX_NODES = 20_000;
const MAX_DEPTH = 64;
const MAX_KEY = 256;

interface Leaf {
  text: string;
  /** The name it stands under. */
  key: string | null;
}

interface Shape {
  /** JSON text and, in between, the strings whose text is not settled yet. */
  parts: (string | Leaf)[];
  leaves: Leaf[];
  nodes: number;
  cut: boolean;
  hits: number;
}

/**
 * JSON text of a value with its strings redacted and then cut until the whole takes at most `limit` bytes.
 * Always valid JSON: names, numbers and structure stay, unless they alone are more than the limit; then the
 * result is one JSON string with the beginning.
 */
export function redactJson(value: unknown, limit: number): RedactedJson {
  const shape: Shape = { parts: [], leaves: [], nodes: 0, cut: false, hits: 0 };
  walk(shape, value, null, 0);
  const lengths = shape.leaves.map((leaf) => leaf.text.length);
  const structure = shape.parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 2), 0);
  let room = limit - structure;
  for (let round = 0; round < 6 && room > 0; round++) {
    const written = write(shape, fairShare(lengths, room));
    const bytes = Buffer.byteLength(written.text);
    if (bytes <= limit) return written;
    room = Math.floor((room * limit * 0.95) / bytes) - 64;
  }
  const { text, hits } = write(shape, 128);
  return {
    text: JSON.stringify(beginning(text.slice(0, limit >> 3)) + cutMark(text.length)),
    hits,
    cut: true,
  };
}

function walk(shape: Shape, value: unknown, key: string | null, depth: number): void {
  shape.nodes++;
  if (typeof value === 'string') {
    const leaf = { text: value.toWellFormed(), key };
    shape.leaves.push(leaf);
    shape.parts.push(leaf);
  } else if (typeof value !== 'object' || value === null) {
    shape.parts.push(JSON.stringify(value) ?? 'null');
  } else if (depth >= MAX_DEPTH) {
    shape.cut = true;
    shape.parts.push('"[CUT:depth]"');
  } else if (Array.isArray(value)) {
    walkAll(shape, '[]', value.length, (index) => walk(shape, value[index], key, depth + 1));
  } else {
    const entries = Object.entries(value);
    walkAll(shape, '{}', entries.length, (index) => {
      const [name, item] = entries[index] ?? ['', null];
      shape.parts.push(`${JSON.stringify(nameOf(shape, name))}:`);
      walk(shape, item, name, depth + 1);
    });
  }
}

function walkAll(shape: Shape, brackets: string, count: number, visit: (index: number) => void): void {
  shape.parts.push(brackets.slice(0, 1));
  for (let index = 0; index < count; index++) {
    if (shape.nodes > MAX_NODES) {
      shape.cut = true;
      break;
    }
    if (index > 0) shape.parts.push(',');
    visit(index);
  }
  shape.parts.push(brackets.slice(1));
}

/** Names stay, unless they are a secret themselves or longer than any name. */
function nameOf(shape: Shape, name: string): string {
  if (name.length < 16) return name.toWellFormed();
  const { text, hits } = redactText(name.slice(0, MAX_KEY).toWellFormed());
  shape.hits += hits;
  if (name.length <= MAX_KEY) return text;
  shape.cut = true;
  return beginning(text) + cutMark(Buffer.byteLength(name));
}

function write(shape: Shape, most: number): RedactedJson {
  let { cut, hits } = shape;
  const text = shape.parts
    .map((part) => {
      if (typeof part === 'string') return part;
      const done = redactLeaf(part, most);
      hits += done.hits;
      cut ||= done.cut;
      return JSON.stringify(done.text);
    })
    .join('');
  return { text, hits, cut };
}

function redactLeaf({ text, key }: Leaf, most: number): RedactedJson {
  if (key !== null && isSecretName(key)) {
    const value = { text: text.slice(0, 4096), quoted: true, env: !/[a-z]/.test(key), spaced: false };
    if (isSecretValue(key, value)) return { text: '[REDACTED:named_value]', hits: 1, cut: false };
  }
  return redactAndCut(text, most);
}

/** Redacts as much of a text as may stay, then cuts it. @param most characters */
export function redactAndCut(text: string, most: number, redact = redactText): RedactedJson {
  if (text.length <= most) {
    const whole = redact(text);
    return { text: whole.text, hits: whole.hits, cut: false };
  }
  const { text: redacted, hits } = redact(text.slice(0, most).toWellFormed());
  const kept = beginning(redacted);
  return { text: kept + cutMark(Buffer.byteLength(text)), hits, cut: true };
}
