import { randomBytes } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { unpack } from './unpack.ts';

const NONE = 0;
const GZIP = 1;
const ZSTD = 4;
const PACK = { [NONE]: (plain: Buffer) => plain, [GZIP]: gzipSync, [ZSTD]: zstdCompressSync };
const CODECS = [NONE, GZIP, ZSTD] as const;

test.each([0, 1, 70_000, 3_000_000])(
  '%i bytes that do not pack at all come out as they went in',
  async (size) => {
    const plain = randomBytes(size);
    for (const codec of CODECS)
      expect((await unpack(PACK[codec](plain), codec, size + 1)).equals(plain)).toBe(true);
  },
);

test('what comes out at hundreds of times its packed size comes out whole, or not at all where that is too much', async () => {
  const plain = Buffer.alloc(10_000_000, 'the same again ');
  for (const codec of [GZIP, ZSTD] as const) {
    const packed = PACK[codec](plain);
    expect((await unpack(packed, codec, plain.length)).equals(plain)).toBe(true);
    await expect(unpack(packed, codec, plain.length - 1)).rejects.toMatchObject({
      code: 'batch_unreadable',
      kind: 'poison',
      message: 'it unpacks to more than 9999999 bytes',
    });
  }
});

test('damage is a verdict on the bytes, and told as such', async () => {
  for (const codec of [GZIP, ZSTD] as const) {
    const packed = PACK[codec](randomBytes(1000));
    for (const damaged of [packed.subarray(0, -20), Buffer.alloc(50, 'x')])
      await expect(unpack(damaged, codec, 10_000)).rejects.toMatchObject({
        code: 'batch_unreadable',
        message: expect.stringContaining('damaged'),
      });
  }
});

test.each([
  [2, 'snappy'],
  [3, 'lz4'],
  [7, 'a codec of number 7'],
])('codec %i is not read, and named', async (codec, name) => {
  await expect(unpack(Buffer.from('x'), codec, 100)).rejects.toMatchObject({
    code: 'batch_unreadable',
    message: expect.stringContaining(`compressed with ${name}`),
  });
});
