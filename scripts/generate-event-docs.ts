/** Writes docs/reference/events.md from schemas/avro; with --check, fails when the two differ. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { TOPICS } from '../schemas/topics.ts';
import { ENVELOPE, EVENT_TYPES, MEANINGS } from './event-docs/meanings.ts';

const Field = z.looseObject({ name: z.string(), type: z.unknown(), doc: z.string().optional() });
const Record_ = z.looseObject({ name: z.string(), doc: z.string().default(''), fields: z.array(Field) });
type Record_ = z.infer<typeof Record_>;
const Named = z.looseObject({ type: z.string() });

const FILES = [
  ...['trace-event', 'verdict', 'session', 'flip', 'task', 'flip-metric', 'flip-metric-delta'],
  ...['quarantine', 'dead-letter'],
];

const INTRO = `# Events and the other records

<!-- Written by \`npm run generate\` from schemas/avro. Do not edit. -->

Every record is Avro in the log; all but FlipMetricDelta are rows of a table too. A type with \`?\` may be null, and a null field is left out
of canonical JSON and of every hash. Times are ISO 8601 in UTC with milliseconds, hashes are lower-case hex.
Rows carry four more columns, \`_log_id\`, \`_partition\`, \`_offset\` and \`_landed_at\`, and \`verdicts\` also \`_key\` and
\`_hash\`: they say where a row came from, and are outside every comparison.

## Which event carries what
`;

function load(name: string): Record_ {
  return Record_.parse(
    JSON.parse(readFileSync(new URL(`../schemas/avro/${name}.avsc`, import.meta.url), 'utf8')),
  );
}

function typeOf(type: unknown, nested: Record_[]): string {
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) {
    const some = type.filter((one) => one !== 'null').map((one) => typeOf(one, nested));
    return `${some.join(' or ')}${type.includes('null') ? '?' : ''}`;
  }
  const { type: kind, ...rest } = Named.parse(type);
  if (kind === 'array') return `array of ${typeOf(rest.items, nested)}`;
  if (kind === 'enum') return 'enum';
  const record = Record_.parse(type);
  nested.push(record);
  return record.name;
}

/** @throws Error naming a field that nothing explains: a new field needs its meaning. */
function tableOf(record: Record_): string {
  const nested: Record_[] = [];
  const rows = record.fields.map(({ name, type, doc }) => {
    const meaning = doc ?? MEANINGS[`${record.name}.${name}`] ?? MEANINGS[name];
    if (meaning === undefined)
      throw new Error(`${record.name}.${name} has no doc in its schema and none in scripts/event-docs.`);
    return `| \`${name}\` | ${typeOf(type, nested)} | ${meaning.replaceAll('|', '\\|')} |\n`;
  });
  const table = `| field | type | meaning |\n|---|---|---|\n${rows.join('')}`;
  return [table, ...nested.map((one) => `\`${one.name}\`:\n\n${tableOf(one)}`)].join('\n');
}

function sectionOf(record: Record_): string {
  const topics = Object.entries(TOPICS).filter(([, spec]) => spec.schema === record.name);
  const where = topics.map(([name, { retentionDays: days }]) =>
    days === null ? `\`${name}\` (the newest of each key, for ever)` : `\`${name}\` (${days} days)`,
  );
  return `## ${record.name}\n\n${record.doc}\nIn the log: ${where.join(', ')}.\n\n${tableOf(record)}`;
}

/** What each type of event carries; every name must be a field of the schema. */
function typesOf(event: Record_): string {
  const names = event.fields.map((field) => field.name);
  const from = names.indexOf(ENVELOPE.from);
  const to = names.indexOf(ENVELOPE.to);
  const envelope = names.slice(from, to + 1).map((name) => `\`${name}\``);
  const rows = Object.entries(EVENT_TYPES).map(([type, { about, fields, content }]) => {
    for (const name of [...fields, ...content.map((place) => `${place}_redacted`)])
      if (!names.includes(name)) throw new Error(`TraceEvent has no field ${name}.`);
    const own = fields.map((name) => `\`${name}\``).join(', ');
    return `| \`${type}\` | ${about} | ${own} | ${content.map((name) => `\`${name}\``).join(', ') || 'none'} |\n`;
  });
  return `
Every type: ${envelope.join(', ')}; \`salt\`, \`withheld\`, \`fork\` and \`redactions\` where they apply.

| type | what it tells | fields | content |
|---|---|---|---|
${rows.join('')}
A place of content, as \`text\`, is \`text_redacted\`, \`text_hash\`, \`text_digest\` and \`text_bytes\` (a diff has no keyed
hash: its \`diff_hash\` is plain), with \`truncated\`. Which notice a hook event becomes:
[Claude Code](../guides/claude-code.md#what-is-captured).
`;
}

const target = fileURLToPath(new URL('../docs/reference/events.md', import.meta.url));
const records = FILES.map(load);
const text = `${INTRO}${typesOf(load('trace-event'))}\n${records.map(sectionOf).join('\n')}`;

if (process.argv.includes('--check')) {
  if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    console.error(
      'docs/reference/events.md differs from the schemas: run npm run generate and commit the result.',
    );
    process.exit(1);
  }
} else writeFileSync(target, text);
