/** Brings a schema registry to this release: compatibility level first, then the schema. */
import { z } from 'zod';
import { schemaText } from '../../../schemas/codec.ts';
import { incompatibilities } from '../../../schemas/compatibility.ts';
import { FlipstreamError } from '../../../schemas/errors.ts';
import { TOPIC_NAMES, TOPICS } from '../../../schemas/topics.ts';
import { registeredId, subjectOf } from '../registry/registry.ts';
import { type Answer, askRegistry, type RegistryAddress } from '../registry/rest.ts';
import type { Change, Plan } from './topics.ts';

/** Every version can read every other: processes are upgraded one after the other, and the log outlives releases. */
const LEVEL = 'FULL_TRANSITIVE';

const Level = z.looseObject({ compatibilityLevel: z.string() });
const Versions = z.array(z.number());
const Version = z.object({ version: z.number(), schema: z.string() });

/** What to change in the registry; an incompatible schema is a refusal that names the field. */
export async function planSchemas(registry: RegistryAddress): Promise<Plan> {
  const plan: Plan = { changes: [], refusals: [], notes: [] };
  for (const topic of TOPIC_NAMES) {
    const subject = subjectOf(topic);
    const ours = schemaText(TOPICS[topic].schema);
    const [level, known, registered] = await Promise.all([
      levelOf(registry, subject),
      schemasOf(registry, subject),
      registeredId(registry, topic),
    ]);
    if (level !== LEVEL) plan.changes.push({ kind: 'set-compatibility', subject, from: level, to: LEVEL });
    if (registered !== null) continue;
    const why = known.flatMap(({ version, schema }) =>
      incompatibilities(ours, schema).map((reason) => `${subject}, version ${version}: ${reason}`),
    );
    plan.refusals.push(...why);
    plan.changes.push({ kind: 'register-schema', subject, versions: known.length });
  }
  return plan;
}

/** @throws FlipstreamError `schema_refused` (usage) when the registry itself finds a reason against it. */
export async function applySchemas(registry: RegistryAddress, changes: readonly Change[]): Promise<void> {
  // Registries without a rule of the subject take anything, so that the level comes first.
  for (const change of changes) {
    if (change.kind !== 'set-compatibility') continue;
    const path = `/config/${encodeURIComponent(change.subject)}`;
    expectOk(await askRegistry(registry, 'PUT', path, { compatibility: change.to }), change.subject);
  }
  for (const change of changes) {
    if (change.kind !== 'register-schema') continue;
    const topic = TOPIC_NAMES.find((name) => subjectOf(name) === change.subject);
    if (!topic) continue;
    const path = `/subjects/${encodeURIComponent(change.subject)}/versions`;
    const body = { schema: schemaText(TOPICS[topic].schema) };
    expectOk(await askRegistry(registry, 'POST', path, body), change.subject);
  }
}

async function levelOf(registry: RegistryAddress, subject: string): Promise<string | null> {
  const answer = await askRegistry(registry, 'GET', `/config/${encodeURIComponent(subject)}`);
  if (answer.status === 404) return null;
  return Level.parse(expectOk(answer, subject).body).compatibilityLevel.toUpperCase();
}

/** Every version that is not deleted, oldest first. */
async function schemasOf(registry: RegistryAddress, subject: string): Promise<z.infer<typeof Version>[]> {
  const path = `/subjects/${encodeURIComponent(subject)}/versions`;
  const answer = await askRegistry(registry, 'GET', path);
  if (answer.status === 404) return [];
  const schemas: z.infer<typeof Version>[] = [];
  for (const version of Versions.parse(expectOk(answer, subject).body)) {
    const one = expectOk(await askRegistry(registry, 'GET', `${path}/${version}`), subject);
    schemas.push(Version.parse(one.body));
  }
  return schemas;
}

/** @throws FlipstreamError `schema_refused` (usage) */
function expectOk(answer: Answer, subject: string): Answer {
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw new FlipstreamError(
    'schema_refused',
    'usage',
    `the schema registry refuses ${subject}: ${whyRefused(answer)}`,
  );
}

function whyRefused({ status, message }: Answer): string {
  if (status === 401 || status === 403) return `${message}: are the credentials right?`;
  // Karapace hides a subject from a user who may not write it.
  return status === 404 ? `${message} It may be that this user may not write it.` : message;
}
