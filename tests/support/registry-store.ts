/** What a schema registry keeps, and its rules; error codes are those of the Confluent API. */
import avro from 'avsc';
import { messageOf } from '../../schemas/errors.ts';

export class RegistryRefusal extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

interface Given {
  schema: string;
  schemaType: string;
}
interface Version extends Given {
  subject: string;
  version: number;
  id: number;
  /** It is found by its id alone. */
  deleted: boolean;
}

const LEVELS = /^(NONE|(BACKWARD|FORWARD|FULL)(_TRANSITIVE)?)$/;

export type SchemaStore = ReturnType<typeof createSchemaStore>;

export function createSchemaStore() {
  const all: Version[] = [];
  const levels = new Map<string, string>();

  const of = (subject: string) => all.filter((version) => version.subject === subject && !version.deleted);
  const existing = (subject: string): Version[] => {
    const versions = of(subject);
    if (versions.length === 0) throw new RegistryRefusal(404, 40401, `Subject '${subject}' not found.`);
    return versions;
  };
  const find = (subject: string, wanted: string): Version => {
    if (!/^(latest|[1-9]\d*)$/.test(wanted))
      throw new RegistryRefusal(422, 42202, `The specified version '${wanted}' is not a valid version id.`);
    const versions = existing(subject);
    const found =
      wanted === 'latest' ? versions.at(-1) : versions.find(({ version }) => version === Number(wanted));
    if (!found) throw new RegistryRefusal(404, 40402, `Version ${wanted} not found.`);
    return found;
  };
  const same = (a: Given, b: Given) => a.schemaType === b.schemaType && spelled(a) === spelled(b);

  /** Why `given` may not follow what the subject has, by its level. */
  function incompatibilities(subject: string, version: string, given: Given): string[] {
    checkAvro(given);
    const level = levels.get(subject) ?? 'BACKWARD';
    const versions = of(subject);
    const against =
      version !== 'latest'
        ? [find(subject, version)]
        : level.endsWith('TRANSITIVE')
          ? versions
          : versions.slice(-1);
    return against.flatMap((old) => [
      ...(/^(BACKWARD|FULL)/.test(level) ? unreadable(given.schema, old.schema) : []),
      ...(/^(FORWARD|FULL)/.test(level) ? unreadable(old.schema, given.schema) : []),
    ]);
  }

  return {
    incompatibilities,
    byId(wanted: number) {
      const found = all.find(({ id }) => id === wanted);
      if (!found) throw new RegistryRefusal(404, 40403, 'Schema not found');
      const { schema, schemaType } = found;
      return told({ schema, schemaType });
    },
    subjects: () => [...new Set(all.filter(({ deleted }) => !deleted).map(({ subject }) => subject))],
    versions: (subject: string) => existing(subject).map(({ version }) => version),
    version: (subject: string, wanted: string) => shown(find(subject, wanted)),
    lookUp(subject: string, given: Given) {
      checkAvro(given);
      const found = existing(subject).find((version) => same(version, given));
      if (!found) throw new RegistryRefusal(404, 40403, 'Schema not found');
      return shown(found);
    },
    register(subject: string, given: Given): number {
      checkAvro(given);
      const again = of(subject).find((version) => same(version, given));
      if (again) return again.id;
      const why = incompatibilities(subject, 'latest', given);
      if (why.length > 0)
        throw new RegistryRefusal(409, 409, `Schema being registered is incompatible: ${why.join('; ')}`);
      const id = all.find((version) => same(version, given))?.id ?? Math.max(0, ...all.map((v) => v.id)) + 1;
      const version = all.filter((each) => each.subject === subject).length + 1;
      all.push({ ...given, subject, version, id, deleted: false });
      return id;
    },
    remove(subject: string, wanted: string): number {
      const found = find(subject, wanted);
      found.deleted = true;
      return found.version;
    },
    level(subject: string): string {
      const level = levels.get(subject);
      if (!level)
        throw new RegistryRefusal(
          404,
          40408,
          `Subject '${subject}' does not have subject-level compatibility`,
        );
      return level;
    },
    setLevel(subject: string, level: string): string {
      if (!LEVELS.test(level)) throw new RegistryRefusal(422, 42203, `Invalid compatibility level ${level}`);
      levels.set(subject, level);
      return level;
    },
  };
}

const load = (schema: string) =>
  avro.Type.forSchema(JSON.parse(schema) as avro.Schema, { wrapUnions: 'always' });

const spelled = ({ schema, schemaType }: Given) =>
  schemaType === 'AVRO' ? JSON.stringify(load(schema)) : schema;

function checkAvro({ schema, schemaType }: Given): void {
  if (schemaType !== 'AVRO') return;
  try {
    load(schema);
  } catch (error) {
    throw new RegistryRefusal(422, 42201, `Invalid AVRO schema. Error: ${messageOf(error)}`);
  }
}

const shown = ({ deleted: _, ...version }: Version) => told(version);

/** Of Avro the type goes without saying. */
function told<T extends Given>({ schemaType, ...rest }: T) {
  return schemaType === 'AVRO' ? rest : { ...rest, schemaType };
}

function unreadable(reader: string, writer: string): string[] {
  try {
    load(reader).createResolver(load(writer));
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}
