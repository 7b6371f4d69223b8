/**
 * Bytes that the first release wrote (fixtures/first-release.json, made once and never again): one record of each
 * schema with everything in it and one with as little as may be.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { decoder } from './codec.ts';
import { incompatibilities } from './compatibility.ts';
import { SCHEMA_NAMES, SCHEMAS } from './generated.ts';

const Fixture = z.record(
  z.string(),
  z.object({
    schema: z.record(z.string(), z.unknown()),
    records: z.array(z.object({ base64: z.string(), value: z.record(z.string(), z.unknown()) })).length(2),
  }),
);
const path = new URL('fixtures/first-release.json', import.meta.url);
const released = Fixture.parse(JSON.parse(readFileSync(path, 'utf8')));

/** Bytes as the fixture's JSON has them. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, field: unknown) =>
      field instanceof Object && 'type' in field && field.type === 'Buffer' && 'data' in field
        ? { base64: Buffer.from(z.array(z.number()).parse(field.data)).toString('base64') }
        : field,
    ),
  );

describe.each(Object.entries(released))('%s of the first release', (released, { schema, records }) => {
  const name = z.enum(SCHEMA_NAMES).parse(released);
  const text = JSON.stringify(schema);

  test('decodes, every field as it was written; what came later is null or its default', () => {
    const decode = decoder(name, text);
    for (const { base64, value } of records)
      expect(plain(decode(Buffer.from(base64, 'base64')))).toMatchObject(value);
  });

  test('reads what is written today', () => {
    expect(incompatibilities(JSON.stringify(SCHEMAS[name]), text)).toEqual([]);
  });
});
