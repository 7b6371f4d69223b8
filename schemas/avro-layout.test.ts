import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { layoutOf } from './avro-layout.ts';
import { readLong } from './avro-reading.ts';
import { decoder, encode } from './codec.ts';
import { SCHEMA_NAMES } from './generated.ts';
import { anyEvent, blankEvent } from './testing.ts';

const { fields, locate } = layoutOf('TraceEvent');
const places = new Int32Array(2 * fields.length);
const decode = decoder('TraceEvent');

/** Every field as the layout finds it, lists left out. */
function found(bytes: Buffer): Record<string, unknown> {
  locate(bytes, places);
  const values = fields.map((field, i): [string, unknown] => {
    const [start, end] = [places[2 * i] ?? -1, places[2 * i + 1] ?? -1];
    if (start === -1) return [field.name, null];
    if (field.kind === 'string') return [field.name, bytes.toString('utf8', start, end)];
    if (field.kind === 'boolean') return [field.name, bytes[start] === 1];
    if (field.kind === 'list') return [field.name, []];
    const value = readLong({ bytes, at: start });
    return [field.name, field.kind === 'enum' ? field.symbols[value] : value];
  });
  return Object.fromEntries(values);
}

describe('the layout of a record', () => {
  test.prop([anyEvent])('finds each field where it lies', (event) => {
    expect(found(encode('TraceEvent', event))).toEqual({ ...decode(encode('TraceEvent', event)) });
  });

  // Beyond 2^52 avsc itself writes negative numbers wrong.
  const number = fc.integer({ min: -(2 ** 52), max: 2 ** 52 });
  test.prop([number, number])('reads any number there is', (seq, turn) => {
    expect(found(encode('TraceEvent', { ...blankEvent(), seq, turn }))).toMatchObject({ seq, turn });
  });

  test.prop([anyEvent, fc.nat(), fc.nat({ max: 255 })])(
    'accepts no bytes that cannot be decoded',
    (event, at, byte) => {
      const bytes = encode('TraceEvent', event);
      bytes[at % bytes.length] = byte;
      let accepted = true;
      try {
        locate(bytes, places);
      } catch (error) {
        expect(error).toMatchObject({ code: 'undecodable', kind: 'poison' });
        accepted = false;
      }
      if (accepted) expect(() => decode(bytes)).not.toThrow();
    },
  );

  test('refuses what is cut short anywhere, or goes on', () => {
    const redactions = [{ field: 'text', before: 'a', after: 'b', rule: 'r', scanner: 's' }];
    const bytes = encode('TraceEvent', { ...blankEvent(), text_redacted: 'x'.repeat(300), redactions });
    locate(bytes, places);
    for (let length = 0; length < bytes.length; length++)
      expect(() => locate(bytes.subarray(0, length), places)).toThrow('not this Avro record');
    expect(() => locate(Buffer.concat([bytes, Buffer.from([0])]), places)).toThrow('goes on');
  });

  test('every schema has one', () => {
    for (const name of SCHEMA_NAMES) expect(layoutOf(name).fields.length).toBeGreaterThan(0);
  });
});
