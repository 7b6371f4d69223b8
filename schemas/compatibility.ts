/** Whether two releases can read each other's records; if not, which field is why. */
import avro from 'avsc';
import { z } from 'zod';
import { messageOf } from './errors.ts';

/**
 * What keeps `reader` from reading what was written under `writer`: a sentence a field, none when it can
 * (Avro 1.12, "Schema Resolution"). Both are schemas as JSON text.
 */
export function unreadable(reader: string, writer: string): string[] {
  try {
    return fields(load(reader), load(writer), '');
  } catch (error) {
    return [messageOf(error)];
  }
}

/** Each must read what the other writes: the processes of an installation are never all upgraded at once. */
export function incompatibilities(next: string, before: string): string[] {
  return [
    ...unreadable(next, before).map((why) => `the new schema cannot read old records: ${why}`),
    ...unreadable(before, next).map((why) => `the old schema cannot read new records: ${why}`),
  ];
}

/**
 * Fields, by their paths, that records written under `writer` have and a reader with `reader` drops. What is
 * chained or signed is no longer true without them.
 */
export function dropped(reader: string, writer: string): string[] {
  return missing(load(reader), load(writer), []);
}

function missing(reader: avro.Type, writer: avro.Type, path: readonly string[]): string[] {
  const { RecordType, ArrayType, WrappedUnionType } = avro.types;
  if (reader instanceof RecordType && writer instanceof RecordType)
    return writer.fields.flatMap(({ name, type }) => {
      const own = reader.fields.find((field) => field.name === name || field.aliases.includes(name));
      const at = [...path, name];
      return own ? missing(own.type, type, at) : [at.join('.')];
    });
  if (reader instanceof ArrayType && writer instanceof ArrayType)
    return missing(reader.itemsType, writer.itemsType, path);
  if (reader instanceof WrappedUnionType && writer instanceof WrappedUnionType)
    return writer.types.flatMap((branch) => {
      const own = reader.types.find(({ branchName }) => branchName === branch.branchName);
      return own ? missing(own, branch, path) : [];
    });
  return [];
}

/**
 * What is wrong with fields that a release adds, a sentence each: only null, which canonical JSON leaves out, lets
 * the hashes and signatures of older records stay true.
 */
export function wrongAdditions(next: string, before: string): string[] {
  const { fields } = Added.parse(JSON.parse(next));
  const known = new Set(Added.parse(JSON.parse(before)).fields.map(({ name }) => name));
  return fields
    .filter((field) => !known.has(field.name) && field.default !== null)
    .map(({ name }) => `field ${name}: what is added has to be nullable, with the default null`);
}

const Added = z.looseObject({
  fields: z.array(z.looseObject({ name: z.string(), default: z.unknown().optional() })),
});

// Wrapped unions load whatever their branches are; how values look in memory is not asked here.
const load = (schema: string) =>
  avro.Type.forSchema(JSON.parse(schema) as avro.Schema, { wrapUnions: 'always' });

function fields(reader: avro.Type, writer: avro.Type, path: string): string[] {
  const why = unresolved(reader, writer);
  if (why === null) return [];
  const named = reader instanceof avro.types.RecordType && writer instanceof avro.types.RecordType;
  if (!named || reader.name !== writer.name) return [path ? `field ${path}: ${why}` : why];
  return reader.fields.flatMap((field) => {
    const at = path ? `${path}.${field.name}` : field.name;
    const written = writer.fields.find(({ name }) => name === field.name || field.aliases.includes(name));
    if (written) return fields(field.type, written.type, at);
    return field.defaultValue() === undefined
      ? [`field ${at}: it is not in the writer's schema and has no default in the reader's`]
      : [];
  });
}

function unresolved(reader: avro.Type, writer: avro.Type): string | null {
  try {
    reader.createResolver(writer);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
