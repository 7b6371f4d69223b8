/**
 * Cuts a JSON document into the values of its root, and of the arrays named, while it streams by: of a document of
 * gigabytes only one step is in memory. Each value is cut out as bytes and read by JSON.parse, so that nothing is
 * read otherwise than JSON.parse reads it.
 */

/** A value of the document: of the root's field `key`, at `index` where that (or the root) is an array cut up. */
export interface Slice {
  key: string | null;
  index: number | null;
  /** Null: longer than is taken. */
  bytes: Buffer | null;
}

export interface SlicerOptions {
  /** Fields of the root object whose arrays are cut up. */
  split: ReadonlySet<string>;
  /** Fields of the root that nobody asks for: passed over without being kept. */
  skip?: ReadonlySet<string>;
  /** Bytes of one value. */
  most: number;
}

export interface Slicer {
  feed(chunk: Buffer): Slice[];
  /** Whether the document came to its end. */
  whole(): boolean;
  /** The root's field that the scan is in. */
  field(): string | null;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a] as const;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d] as const;

export function createSlicer({ split, skip = new Set(), most }: SlicerOptions): Slicer {
  let depth = 0;
  let root: 'object' | 'array' | null = null;
  let done = false;
  let inString = false;
  let escaped = false;
  /** The field of the root that the scan is in, once its name is known; the name's bytes are taken like a value's. */
  let key: string | null = null;
  let naming = false;
  let splitting = false;
  let index = 0;
  let taking = false;
  let pieces: Buffer[] = [];
  let length = 0;
  let slices: Slice[] = [];

  /** Depth at which a value that is handed out begins. */
  const level = () => (splitting ? 2 : 1);
  const wanted = () => naming || key === null || !skip.has(key);

  function keep(part: Buffer): void {
    length += part.length;
    if (length > most || !wanted()) pieces = [];
    else pieces.push(part);
  }

  function take(): Buffer | null {
    const bytes = length > most ? null : Buffer.concat(pieces);
    taking = false;
    pieces = [];
    length = 0;
    return bytes;
  }

  function finish(): void {
    const use = wanted();
    const bytes = take();
    const place = splitting || root === 'array' ? index++ : null;
    if (use) slices.push({ key, index: place, bytes });
  }

  function named(): void {
    const bytes = take();
    naming = false;
    try {
      const name: unknown = JSON.parse(String(bytes));
      key = typeof name === 'string' ? name : null;
    } catch {
      key = null;
    }
  }

  function opens(byte: number): void {
    if (depth === 0) root = byte === OPEN_OBJECT ? 'object' : 'array';
    else if (depth === 1 && !splitting && byte === OPEN_ARRAY && key !== null && split.has(key)) {
      splitting = true;
      index = 0;
    } else if (depth === level()) taking = true;
    depth++;
  }

  function feed(chunk: Buffer): Slice[] {
    slices = [];
    let from = 0;
    /** Ends what is being taken before `at`. */
    const end = (at: number, then: () => void) => {
      keep(chunk.subarray(from, at));
      then();
    };
    for (let at = 0; at < chunk.length && !done; at++) {
      if (inString) {
        at = endOfString(chunk, at);
        if (!inString && depth === level() && taking) {
          if (naming) end(at + 1, named);
          else end(at + 1, finish);
        }
        continue;
      }
      const byte = chunk[at] ?? 0;
      if (byte === QUOTE) {
        inString = true;
        if (depth === level() && !taking) {
          taking = true;
          from = at;
          naming = root === 'object' && !splitting && key === null;
        }
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        const was = taking;
        opens(byte);
        if (taking && !was) from = at;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (taking && depth === level()) end(at, finish);
        depth--;
        if (taking && depth === level()) end(at + 1, finish);
        if (splitting && depth === 1) splitting = false;
        if (depth <= 0) done = true;
      } else if (byte === COMMA) {
        if (taking && depth === level()) end(at, finish);
        if (depth === 1 && root === 'object') key = null;
      } else if (!taking && depth > 0 && depth === level() && byte > 0x20 && byte !== COLON) {
        taking = true;
        from = at;
      }
    }
    if (taking && !done) keep(chunk.subarray(from));
    return slices;
  }

  /** @returns the place of the quote that ends the string, or of the chunk's last byte */
  function endOfString(chunk: Buffer, start: number): number {
    for (let at = start; at < chunk.length; at++) {
      if (escaped) escaped = false;
      else if (chunk[at] === BACKSLASH) escaped = true;
      else if (chunk[at] === QUOTE) {
        inString = false;
        return at;
      }
    }
    return chunk.length - 1;
  }

  return { feed, whole: () => done, field: () => key };
}
