/**
 * Fails when a schema cannot read what the last release wrote (schemas/released), or the last release what it
 * writes: processes are upgraded one after the other. With --release, takes the present ones as released.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { schemaText } from '../schemas/codec.ts';
import { hashBreaks, incompatibilities } from '../schemas/compatibility.ts';
import { SCHEMA_NAMES, SCHEMAS } from '../schemas/generated.ts';

const RELEASED = new URL('../schemas/released/', import.meta.url);

if (process.argv.includes('--release')) {
  for (const name of SCHEMA_NAMES)
    writeFileSync(new URL(`${name}.avsc`, RELEASED), `${JSON.stringify(SCHEMAS[name], null, 2)}\n`);
  process.exit(0);
}

const problems: string[] = [];
for (const file of readdirSync(RELEASED).filter((f) => f.endsWith('.avsc'))) {
  const text = readFileSync(new URL(file, RELEASED), 'utf8');
  const { name } = z.looseObject({ name: z.string() }).parse(JSON.parse(text));
  const ours = SCHEMA_NAMES.find((known) => known === name);
  if (!ours)
    problems.push(`${name}: released, and no longer in schemas/avro. Old records of it could not be read.`);
  else {
    const next = schemaText(ours);
    const whys = [...incompatibilities(next, text), ...hashBreaks(next, text)];
    problems.push(...whys.map((why) => `${name}: ${why}`));
  }
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
