/** Writes schemas/generated.ts from schemas/avro/*.avsc; with --check, fails when the two differ. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

const AVRO = new URL('../schemas/avro/', import.meta.url);
const TARGET = new URL('../schemas/generated.ts', import.meta.url);

const Field = z.looseObject({ name: z.string(), type: z.unknown(), doc: z.string().optional() });
const Record_ = z.looseObject({
  type: z.literal('record'),
  name: z.string(),
  doc: z.string().optional(),
  fields: z.array(Field),
});
type RecordSchema = z.infer<typeof Record_>;

const PRIMITIVES: Record<string, string> = {
  string: 'string',
  int: 'number',
  long: 'number',
  float: 'number',
  double: 'number',
  boolean: 'boolean',
  bytes: 'Buffer',
  null: 'null',
};

function generate(): string {
  const interfaces: string[] = [];
  const named = new Map<string, string>();
  const schemas = readdirSync(AVRO)
    .filter((file) => file.endsWith('.avsc'))
    .sort()
    .map((file) => Record_.parse(JSON.parse(readFileSync(new URL(file, AVRO), 'utf8'))));

  const typeOf = (type: unknown): string => {
    if (typeof type === 'string') return PRIMITIVES[type] ?? type;
    if (Array.isArray(type))
      return [
        ...type.filter((t) => t !== 'null').map(typeOf),
        ...(type.includes('null') ? ['null'] : []),
      ].join(' | ');
    const schema = z.looseObject({ type: z.string() }).parse(type);
    if (schema.type === 'array') return `${wrap(typeOf(schema.items))}[]`;
    if (schema.type === 'enum') {
      const { name, symbols } = z
        .looseObject({ name: z.string(), symbols: z.array(z.string()) })
        .parse(schema);
      named.set(name, `export type ${name} = ${symbols.map((s) => `'${s}'`).join(' | ')};`);
      return name;
    }
    if (schema.type === 'record') return emit(Record_.parse(schema));
    throw new Error(`generate-types: no TypeScript for the Avro type ${JSON.stringify(type)}`);
  };
  const wrap = (text: string) => (text.includes('|') ? `(${text})` : text);
  const emit = (record: RecordSchema): string => {
    const lines = record.fields.map(
      (f) => `${f.doc ? `  /** ${f.doc} */\n` : ''}  ${f.name}: ${typeOf(f.type)};`,
    );
    interfaces.push(
      `${record.doc ? `/** ${record.doc} */\n` : ''}export interface ${record.name} {\n${lines.join('\n')}\n}`,
    );
    return record.name;
  };
  for (const schema of schemas) emit(schema);
  const records = schemas.map((s) => `  ${s.name}: ${s.name};`).join('\n');
  const consts = schemas.map((s) => `  ${s.name}: ${JSON.stringify(s)},`).join('\n');
  return [
    '// Generated from schemas/avro by scripts/generate-types.ts. Do not edit: npm run generate.',
    ...named.values(),
    ...interfaces,
    `/** Record types by schema name. */\nexport interface Records {\n${records}\n}`,
    `export const SCHEMA_NAMES = [\n${schemas.map(({ name }) => `  '${name}',\n`).join('')}] as const;`,
    'export type SchemaName = (typeof SCHEMA_NAMES)[number];',
    `/** The Avro schemas themselves, so that nothing is read from disk at run time. */\nexport const SCHEMAS: Readonly<Record<SchemaName, unknown>> = {\n${consts}\n};\n`,
  ].join('\n\n');
}

const text = generate();
if (process.argv.includes('--check')) {
  if (readFileSync(TARGET, 'utf8') !== text) {
    console.error(
      'schemas/generated.ts differs from schemas/avro: run npm run generate and commit the result.',
    );
    process.exit(1);
  }
} else writeFileSync(TARGET, text);
