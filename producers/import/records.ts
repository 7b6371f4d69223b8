/** The records of a file, a part at a time: lines, or elements of a document, as values or as what is wrong with them. */
import { isUtf8 } from 'node:buffer';
import { createSlicer } from './document.ts';
import type { Importer, Place } from './importer.ts';
import { createLineSplitter } from './lines.ts';

export interface Read {
  place: Place;
  value: unknown;
  /** As it stands in the file. Null: longer than is taken. */
  bytes: Buffer | null;
  /** Why there is no value. */
  wrong: string | null;
}

export interface RecordSource {
  feed(chunk: Buffer): Read[];
  /** What is left at the end of the file, and whether it ended where it should. */
  end(): { reads: Read[]; whole: boolean };
}

/** What is longer is no record of any harness; it is passed over without being kept. */
const MOST = 256 * 2 ** 20;

export function recordsOf({ shape }: Importer): RecordSource {
  return shape === 'lines' ? ofLines() : ofDocument(shape.split, shape.skip ?? []);
}

function ofLines(): RecordSource {
  const lines = createLineSplitter(MOST);
  const read = (some: ReturnType<typeof lines.feed>): Read[] =>
    some.flatMap(({ n, bytes, ended }) => {
      const place = { key: null, index: n - 1 };
      const content = n === 1 && bytes ? withoutMark(bytes) : bytes;
      if (content && isBlank(content)) return [];
      const result = readJson(content);
      const wrong = result.wrong === 'no JSON' && !ended ? 'a last line that is cut off' : result.wrong;
      return [{ place, bytes: content, ...result, wrong }];
    });
  return { feed: (chunk) => read(lines.feed(chunk)), end: () => ({ reads: read(lines.end()), whole: true }) };
}

function ofDocument(split: readonly string[], skip: readonly string[]): RecordSource {
  const slicer = createSlicer({ split: new Set(split), skip: new Set(skip), most: MOST });
  return {
    feed: (chunk) =>
      slicer
        .feed(chunk)
        .map(({ key, index, bytes }) => ({ place: { key, index }, bytes, ...readJson(bytes) })),
    end: () => ({ reads: [], whole: slicer.whole() }),
  };
}

function readJson(bytes: Buffer | null): Pick<Read, 'value' | 'wrong'> {
  if (bytes === null) return { value: null, wrong: `longer than ${MOST / 2 ** 20} MiB` };
  if (!isUtf8(bytes)) return { value: null, wrong: 'invalid UTF-8' };
  try {
    return { value: JSON.parse(bytes.toString('utf8')), wrong: null };
  } catch {
    return { value: null, wrong: 'no JSON' };
  }
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function isBlank(bytes: Buffer): boolean {
  if (bytes.length > 64) return false;
  return bytes.toString('latin1').trim() === '';
}

/** Where a record stands, for people. */
export function placeText({ key, index }: Place, shape: Importer['shape']): string {
  if (shape === 'lines') return `line ${(index ?? 0) + 1}`;
  if (index === null) return key ?? 'the document';
  return `${key ?? ''}[${index}]`;
}
