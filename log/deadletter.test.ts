import { expect, test } from 'vitest';
import { decoder } from '../schemas/codec.ts';
import { deadLetter, encodeLetter } from './deadletter.ts';
import { encodeRecords } from './encode.ts';
import { unframe } from './framing.ts';
import type { Outgoing } from './log.ts';

const MOST = 2_000;
const place = { topic: 'trace.raw', partition: 3, group: 'g' } as const;
const seal = async (bytes: Buffer) => bytes;
const encode = (records: readonly Outgoing[]) =>
  encodeRecords(records, { ids: { own: () => 1, text: () => null }, seal, most: MOST });

async function letterOf(key: string, bytes: number) {
  const record = { offset: 7, timestamp: 0, key, value: Buffer.alloc(bytes, 'x') };
  const letter = deadLetter(place, { record, reason: 'bad_frame', message: 'm' }, 0, seal);
  const [encoded] = await encodeLetter(letter, encode);
  if (!encoded) throw new Error('no letter');
  return { given: letter.value, kept: decoder('DeadLetter')(unframe(encoded.value).body) };
}

test('a dead letter keeps the bytes that fit into it, else their hash and length', async () => {
  const small = await letterOf('k', 100);
  expect(small.kept).toEqual(small.given);
  for (const bytes of [MOST - 10, MOST, 100 * MOST]) {
    const { given, kept } = await letterOf('k', bytes);
    expect(kept).toEqual({ ...given, content: null });
    expect(kept.value_bytes).toBe(bytes);
  }
});

test('a key that does not fit is left out as well', async () => {
  const { given, kept } = await letterOf('k'.repeat(MOST), 10);
  expect(kept).toEqual({ ...given, content: null, key: null });
});

test('a letter that cannot be written for another reason is not made smaller', async () => {
  const refused = { offset: Number.NaN, timestamp: 0, key: 'k', value: Buffer.from('x') };
  const letter = deadLetter(place, { record: refused, reason: 'r', message: 'm' }, 0, seal);
  await expect(encodeLetter(letter, encode)).rejects.toMatchObject({ code: 'schema_mismatch' });
});
