import { join } from 'node:path';
import Docker from 'dockerode';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { temporaryDirectory } from '../testing.ts';
import { demultiplexer, execIn } from './engine.ts';

const Frame = fc.record({ stream: fc.constantFrom(1, 2), text: fc.string({ maxLength: 20 }) });

const encode = (frames: { stream: number; text: string }[]) =>
  Buffer.concat(
    frames.map(({ stream, text }) => {
      const head = Buffer.alloc(8);
      head[0] = stream;
      head.writeUInt32BE(Buffer.byteLength(text), 4);
      return Buffer.concat([head, Buffer.from(text)]);
    }),
  );

function split(bytes: Buffer, size: number): [string, string] {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  const feed = demultiplexer(
    (chunk) => out.push(chunk),
    (chunk) => err.push(chunk),
  );
  for (let at = 0; at < bytes.length; at += size) feed(bytes.subarray(at, at + size));
  return [Buffer.concat(out).toString(), Buffer.concat(err).toString()];
}

test('however the engine\u2019s stream is cut, each stream comes out whole', () => {
  fc.assert(
    fc.property(fc.array(Frame, { maxLength: 20 }), fc.integer({ min: 1, max: 40 }), (frames, size) => {
      const of = (stream: number) => frames.filter((each) => each.stream === stream).map(({ text }) => text);
      expect(split(encode(frames), size)).toEqual([of(1).join(''), of(2).join('')]);
    }),
  );
});

test('a hundred thousand pieces of one byte in one read do no harm', () => {
  const frames = Array.from({ length: 100_000 }, () => ({ stream: 1, text: 'x' }));
  expect(split(encode(frames), 2 ** 24)[0]).toHaveLength(100_000);
});

test('what was stopped between two commands kills its container with the next one, and waits for none', async () => {
  const docker = new Docker({ socketPath: join(temporaryDirectory(), 'no-engine') });
  const kill = vi.fn();
  const signal = AbortSignal.abort(new Error('stopped'));
  const command = { argv: ['true'], user: '0:0', cwd: '/', env: {}, timeoutMs: 60_000, outputMax: 1 };
  const ran = execIn(docker.getContainer('box'), kill, { ...command, signal });
  await expect(ran).rejects.toThrow('stopped');
  expect(kill).toHaveBeenCalledOnce();
});
