import { z } from 'zod';
import { decoder, encodeUnknown } from './codec.ts';
import { FlipstreamError } from './errors.ts';
import { type Records, SCHEMAS, type SchemaName } from './generated.ts';

const WithFields = z.looseObject({
  fields: z.array(z.looseObject({ name: z.string(), default: z.unknown().optional() })),
});

/**
 * A reader of records in their JSON form (canonical JSON leaves nulls out): absent fields take the schema's
 * defaults, fields the schema does not know are dropped. Made once and kept, as a decoder is.
 * The reader throws FlipstreamError `schema_mismatch` (poison) when a field is missing or of another type.
 */
export function jsonReader<N extends SchemaName>(name: N): (value: unknown) => Records[N] {
  const { fields } = WithFields.parse(SCHEMAS[name]);
  const defaults = Object.fromEntries(
    fields.filter((field) => field.default !== undefined).map((field) => [field.name, field.default]),
  );
  const decode = decoder(name);
  return (value) => {
    const given = z.record(z.string(), z.unknown()).safeParse(value);
    if (!given.success)
      throw new FlipstreamError('schema_mismatch', 'poison', `${name}: not a JSON object`, given.error);
    return decode(encodeUnknown(name, { ...defaults, ...given.data }));
  };
}

/** Names in a record's JSON form that our schema does not have. */
export function unknownFields(name: SchemaName, value: unknown): string[] {
  const known = new Set(WithFields.parse(SCHEMAS[name]).fields.map((field) => field.name));
  return Object.keys(z.looseObject({}).safeParse(value).data ?? {}).filter((field) => !known.has(field));
}
