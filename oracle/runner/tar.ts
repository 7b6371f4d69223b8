import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

export interface TarFile {
  path: string;
  /** A buffer, or the path of a file here. */
  content: Buffer | { file: string };
  mode?: number;
}

const BLOCK = 512;

/** A tar of plain files, in their order, made while it is read. Ends with an error when one cannot be read. */
export function tarOf(files: readonly TarFile[]): Readable {
  return Readable.from(blocks(files), { objectMode: false });
}

async function* blocks(files: readonly TarFile[]): AsyncGenerator<Buffer> {
  for (const { path, content, mode = 0o644 } of files) {
    const name = Buffer.from(path);
    // GNU's form for names that do not fit the header: a record before it that holds the name.
    if (name.length > 100) yield* record(header('././@LongLink', 'L', name.length, 0o644), name);
    const size = Buffer.isBuffer(content) ? content.length : (await stat(content.file)).size;
    const head = header(path, '0', size, mode);
    if (Buffer.isBuffer(content)) yield* record(head, content);
    else {
      yield head;
      if (size > 0)
        for await (const chunk of createReadStream(content.file, { end: size - 1 })) yield Buffer.from(chunk);
      yield padding(size);
    }
  }
  yield Buffer.alloc(2 * BLOCK);
}

function* record(head: Buffer, content: Buffer): Generator<Buffer> {
  yield head;
  yield content;
  yield padding(content.length);
}

const padding = (size: number) => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** The 512 bytes of POSIX's ustar header: numbers in octal, and a sum over all bytes, its own place taken as blanks. */
function header(name: string, type: '0' | 'L', size: number, mode: number): Buffer {
  const head = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    head.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  Buffer.from(name).subarray(0, 100).copy(head);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  head.write('        ', 148, 'latin1');
  head.write(type, 156, 'latin1');
  head.write('ustar  \0', 257, 'latin1');
  head.write(
    `${head
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
    'latin1',
  );
  return head;
}

/** Every plain file under a directory, to lie under `as` in a tar. */
export async function filesUnder(directory: string, as: string): Promise<TarFile[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return { path: join(as, file.slice(directory.length)), content: { file } };
    });
}
