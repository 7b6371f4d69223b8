import { expect, test } from 'vitest';
import { decoder, encode, schemaText } from '../schemas/codec.ts';
import { SCHEMAS } from '../schemas/generated.ts';
import { blankEvent, newerTraceEvent } from '../schemas/testing.ts';
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
  const texts = [schemaText('TraceEvent'), newerTraceEvent('mood')];
  const ids = { own: () => 0, text: (id: number) => texts[id] ?? null };
  const own = encode('TraceEvent', blankEvent());
  const value = frame(1, Buffer.concat([own, Buffer.from([0])]));
  const waits = expect.objectContaining({
    code: 'newer_writer',
    kind: 'retryable',
    message: expect.stringContaining('mood'),
  });
  expect(() => valueReader('trace.events', ids)(value)).toThrow(waits);
  const batch = {
    ...{ topic: 'trace.events' as const, partition: 0, nextOffset: 9, end: 9, earliest: 0 },
    records: [Buffer.from([7]), frame(0, own), value, frame(0, own)].map((bytes, index) => ({
      ...{ offset: 2 * index, timestamp: 0, key: 's', value: bytes },
    })),
  };
  const decoded = decodeBatch('trace.events', batch, valueDecoder('trace.events', ids));
  expect(decoded.batch.records.map(({ offset }) => offset)).toEqual([2]);
  expect(decoded.refused.map(({ record }) => record.offset)).toEqual([0]);
  expect(decoded).toMatchObject({ batch: { nextOffset: 4 }, waits });
});

test('P2 a record of something else in the topic waits for no release: it is set aside', () => {
  const ids = { own: () => 0, text: () => schemaText('Task') };
  const other = frame(0, Buffer.from('whatever it is'));
  for (const reader of [valueReader('trace.events', ids), valueDecoder('trace.events', ids)])
    expect(() => reader(other)).toThrow(expect.objectContaining({ code: 'schema_unreadable' }));
});
