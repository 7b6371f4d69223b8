import { randomBytes } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ungzip, unzstd } from './unpack.ts';

test.each([0, 1, 70_000, 3_000_000])(
  '%i bytes that do not pack at all come out as they went in',
  async (size) => {
    const plain = randomBytes(size);
    expect((await unzstd(zstdCompressSync(plain))).equals(plain)).toBe(true);
    expect((await ungzip(gzipSync(plain))).equals(plain)).toBe(true);
  },
);

test('what comes out at hundreds of times its packed size comes out whole', async () => {
  const plain = Buffer.alloc(10_000_000, 'the same again ');
  expect((await unzstd(zstdCompressSync(plain))).equals(plain)).toBe(true);
  expect((await ungzip(gzipSync(plain))).equals(plain)).toBe(true);
});
