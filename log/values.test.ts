import { expect, test } from 'vitest';
import { decoder, encode, schemaText } from '../schemas/codec.ts';
import { SCHEMAS } from '../schemas/generated.ts';
import { blankEvent } from '../schemas/testing.ts';
import { frame } from './framing.ts';
import { decodeBatch, valueDecoder, valueReader } from './values.ts';

test('P7 bytes of an older writer are read as bytes of our own schema', () => {
  const older = structuredClone(SCHEMAS.TraceEvent) as { fields: { name: string }[] };
  older.fields = older.fields.filter((field) => field.name !== 'redactions');
  const texts = new Map([
    [1, schemaText('TraceEvent')],
    [2, JSON.stringify(older)],
  ]);
  const read = valueReader('trace.raw', { own: () => 1, text: (id) => texts.get(id) ?? null });
  const event = { ...blankEvent(), session_id: 's', text_redacted: 'é' };
  const own = encode('TraceEvent', event);
  expect(read(frame(1, own))).toEqual(own);
  // An empty list is the last byte of ours, and not there in the older writer's.
  expect(decoder('TraceEvent')(read(frame(2, own.subarray(0, -1))))).toEqual(event);
  expect(() => read(frame(1, own.subarray(0, -1)))).toThrow(expect.objectContaining({ kind: 'poison' }));
  expect(() => read(frame(3, own))).toThrow(expect.objectContaining({ code: 'unknown_schema' }));
});

test('P7 what a newer writer added is never dropped: its records wait, and are no dead letters', () => {
  const newer = structuredClone(SCHEMAS.TraceEvent) as { fields: object[] };
  newer.fields.push({ name: 'mood', type: ['null', 'string'], default: null });
  const ids = { own: () => 1, text: () => JSON.stringify(newer) };
  const value = frame(2, Buffer.concat([encode('TraceEvent', blankEvent()), Buffer.from([0])]));
  const waits = expect.objectContaining({
    code: 'newer_writer',
    kind: 'retryable',
    message: expect.stringContaining('mood'),
  });
  expect(() => valueReader('trace.events', ids)(value)).toThrow(waits);
  const batch = {
    ...{ topic: 'trace.events' as const, partition: 0, nextOffset: 1, end: 1, earliest: 0 },
    records: [{ offset: 0, timestamp: 0, key: 's', value }],
  };
  expect(() => decodeBatch('trace.events', batch, valueDecoder('trace.events', ids))).toThrow(waits);
});
