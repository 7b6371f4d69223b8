/** Whether two releases can read each other's records; if not, which field is why. */
import avro from 'avsc';
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
  const { RecordType, ArrayType, EnumType, WrappedUnionType } = avro.types;
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
      return own ? missing(own, branch, path) : [[...path, branch.branchName].join('.')];
    });
  if (reader instanceof EnumType && writer instanceof EnumType)
    return writer.symbols
      .filter((symbol) => !reader.symbols.includes(symbol))
      .map((symbol) => [...path, symbol].join('.'));
  return [];
}

/**
 * What keeps hashes and signatures of older records from staying true under `next`, a sentence each: canonical JSON
 * leaves out null and nothing else, and what an older release wrote must not look like a newer one's.
 */
export function hashBreaks(next: string, before: string): string[] {
  return [
    ...dropped(next, before).map((at) => `${at}: what was released cannot be taken out`),
    ...dropped(before, next)
      .filter((at) => (defaultAt(load(next), at.split('.')) ?? null) !== null)
      .map((at) => `${at}: what is added has to be a field that is nullable, with the default null`),
  ];
}

/** The default of the field at a path; undefined where there is none, or no field. */
function defaultAt(type: avro.Type, path: readonly string[]): unknown {
  const { RecordType, ArrayType, WrappedUnionType } = avro.types;
  if (type instanceof ArrayType) return defaultAt(type.itemsType, path);
  if (type instanceof WrappedUnionType)
    return type.types.map((branch) => defaultAt(branch, path)).find((found) => found !== undefined);
  if (!(type instanceof RecordType)) return undefined;
  const [name, ...rest] = path;
  const field = type.fields.find((one) => one.name === name);
  if (!field) return undefined;
  return rest.length > 0 ? defaultAt(field.type, rest) : field.defaultValue();
}

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
