import { describe, expect, test } from 'vitest';
import { decoder, encode } from './codec.ts';
import { SCHEMAS } from './generated.ts';
import { blankEvent } from './testing.ts';

describe('the codec', () => {
  test('P7 a schema change: what an older writer wrote still decodes, fields it lacked are null', () => {
    const older = structuredClone(SCHEMAS.TraceEvent) as { fields: { name: string }[] };
    older.fields = older.fields.filter((field) => field.name !== 'history_visible');
    const read = decoder('TraceEvent', JSON.stringify(older));
    const bytes = encode('TraceEvent', blankEvent());
    const at = SCHEMAS.TraceEvent as { fields: { name: string }[] };
    expect(at.fields.length - older.fields.length).toBe(1);
    // One null union branch is one byte: the older writer's bytes are ours without it.
    const shorter = Buffer.concat([bytes.subarray(0, -1)]);
    expect(read(shorter).history_visible).toBeNull();
  });

  test('names the field that does not fit', () => {
    const bad = { ...blankEvent(), seq: Number.NaN };
    expect(() => encode('TraceEvent', bad)).toThrow(/TraceEvent: field seq does not fit/);
  });

  test('calls bytes that are no such record poison', () => {
    expect(() => decoder('TraceEvent')(Buffer.from([1, 2, 3]))).toThrow(
      expect.objectContaining({ code: 'undecodable', kind: 'poison' }),
    );
  });

  test('refuses a writer whose schema ours cannot read', () => {
    const other = JSON.stringify({ type: 'record', name: 'TraceEvent', namespace: 'flipstream', fields: [] });
    expect(() => decoder('TraceEvent', other)).toThrow(
      expect.objectContaining({ code: 'schema_unreadable', kind: 'fatal' }),
    );
  });
});
