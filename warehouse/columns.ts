import { z } from 'zod';
import { SCHEMAS, type SchemaName } from '../schemas/generated.ts';

/** What a column holds: a plain value, or a list whose items are strings or flat records. */
type ColumnType =
  | { kind: 'string' | 'long' | 'int' | 'boolean' | 'bytes' }
  | { kind: 'list'; of: 'string' | { name: string; type: Plain }[] };
type Plain = 'string' | 'long' | 'int' | 'boolean' | 'bytes';

export interface Column {
  name: string;
  type: ColumnType;
}

/** Columns that say where a row came from and when it landed; outside every comparison, as all that begin with `_`. */
export const PROVENANCE: readonly Column[] = [
  { name: '_log_id', type: { kind: 'string' } },
  { name: '_partition', type: { kind: 'int' } },
  { name: '_offset', type: { kind: 'long' } },
  { name: '_landed_at', type: { kind: 'string' } },
];

const PlainType = z.enum(['string', 'long', 'int', 'boolean', 'bytes']);
const FlatRecord = z.object({
  type: z.literal('record'),
  fields: z.array(z.object({ name: z.string(), type: PlainType })),
});
const FieldType = z.union([
  PlainType,
  z.tuple([z.literal('null'), PlainType]),
  z.object({ type: z.literal('enum') }),
  z.object({ type: z.literal('array'), items: z.union([z.literal('string'), FlatRecord]) }),
]);
const RecordSchema = z.object({ fields: z.array(z.object({ name: z.string(), type: FieldType })) });

/**
 * The columns of an Avro record, in its order.
 * @throws ZodError when the schema holds a type that no column is made from yet: extend this file.
 */
export function columnsOf(schema: SchemaName): Column[] {
  const { fields } = RecordSchema.parse(SCHEMAS[schema]);
  return fields.map(({ name, type }) => ({ name, type: columnType(type) }));
}

function columnType(type: z.infer<typeof FieldType>): ColumnType {
  if (typeof type === 'string') return { kind: type };
  if (Array.isArray(type)) return { kind: type[1] };
  if (type.type === 'enum') return { kind: 'string' };
  return { kind: 'list', of: type.items === 'string' ? 'string' : type.items.fields };
}

const DUCK = {
  string: 'VARCHAR',
  long: 'BIGINT',
  int: 'INTEGER',
  boolean: 'BOOLEAN',
  bytes: 'BLOB',
} as const;
const DELTA = {
  string: 'string',
  long: 'long',
  int: 'integer',
  boolean: 'boolean',
  bytes: 'binary',
} as const;

/** The column's type in DuckDB's SQL. */
export function duckType({ type }: Column): string {
  if (type.kind !== 'list') return DUCK[type.kind];
  if (type.of === 'string') return 'VARCHAR[]';
  return `STRUCT(${type.of.map(({ name, type: of }) => `"${name}" ${DUCK[of]}`).join(', ')})[]`;
}

/** The structure that `from_json` needs to read a list column back from its JSON text. */
export function jsonStructure({ type }: Column): string {
  if (type.kind !== 'list' || type.of === 'string') return '["VARCHAR"]';
  return JSON.stringify([Object.fromEntries(type.of.map(({ name, type: of }) => [name, DUCK[of]]))]);
}

/** Delta's `schemaString` (protocol, "Schema serialization format"). Every column may be null: a reader finds more than we promise. */
export function deltaSchema(columns: readonly Column[]): string {
  return JSON.stringify({
    type: 'struct',
    fields: columns.map((column) => deltaField(column.name, deltaType(column.type))),
  });
}

function deltaType(type: ColumnType): unknown {
  if (type.kind !== 'list') return DELTA[type.kind];
  const elementType =
    type.of === 'string'
      ? 'string'
      : { type: 'struct', fields: type.of.map((field) => deltaField(field.name, DELTA[field.type])) };
  return { type: 'array', elementType, containsNull: true };
}

function deltaField(name: string, type: unknown) {
  return { name, type, nullable: true, metadata: {} };
}
