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
