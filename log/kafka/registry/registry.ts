/**
 * Schemas of writers by the id that stands before each record. Nothing is ever registered here: that is a step
 * of deployment (`flipstream kafka setup`).
 */
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import avro from 'avsc';
import { z } from 'zod';
import { schemaText } from '../../../schemas/codec.ts';
import { FlipstreamError, messageOf } from '../../../schemas/errors.ts';
import { SCHEMA_NAMES } from '../../../schemas/generated.ts';
import type { Clock } from '../../../schemas/time.ts';
import { TOPIC_NAMES, TOPICS, type TopicName } from '../../../schemas/topics.ts';
import { ASK_MS, createMissing } from './missing.ts';
import { createNoes } from './noes.ts';
import { ANSWER_MS, askRegistry, type RegistryAddress, unavailable } from './rest.ts';

export interface RegistryOptions extends RegistryAddress {
  clock?: Clock;
}

export interface Registry {
  /**
   * Id of our own schema for `topic`; asked once.
   * @throws FlipstreamError `schema_unregistered` (usage) when setup has not been run for this release, until then
   * `schema_pending`; `registry_unavailable` (retryable).
   */
  idFor(topic: TopicName): Promise<number>;
  /**
   * A writer's schema as JSON text: exactly our own text when it means the same as ours.
   * @param topic where a record names it. A registry that does not show our own schema of this topic either is not
   * believed: it is starting, is another, was emptied, or (Karapace) hides the subject from this user.
   * @throws FlipstreamError `unknown_schema` (poison) once the registry has said for a minute that there is none,
   * `schema_unreadable` (fatal) when it is no Avro schema; `schema_pending`, `registry_unavailable` (retryable).
   */
  schemaOf(id: number, topic: TopicName): Promise<string>;
}

/** The subject of a topic's values. */
export function subjectOf(topic: TopicName): string {
  return `${topic}-value`;
}

/** Some registries answer before they have read what they keep (Karapace: some seconds for 40,000 records). */
const STARTING_MS = 20_000;

const Registered = z.looseObject({ id: z.number() });

/**
 * Id of our own schema for `topic`; null when the registry says that it has none.
 * @throws FlipstreamError `registry_unavailable` (retryable)
 */
export async function registeredId(address: RegistryAddress, topic: TopicName): Promise<number | null> {
  const path = `/subjects/${encodeURIComponent(subjectOf(topic))}`;
  const answer = await askRegistry(address, 'POST', path, { schema: schemaText(TOPICS[topic].schema) });
  if (answer.status === 404) return null;
  const found = Registered.safeParse(answer.body);
  if (!found.success) throw unavailable(address.url, reasonOf(answer.status, answer.message));
  return found.data.id;
}

/** @param options where the registry is; certificates of a private authority go into NODE_EXTRA_CA_CERTS. */
export function openRegistry({ clock = Date.now, ...address }: RegistryOptions): Registry {
  const client = new SchemaRegistry(
    {
      host: address.url.replace(/\/+$/, ''),
      clientId: 'flipstream',
      retry: { retries: 2 },
      middlewares: [
        () => ({
          prepareRequest: (next) => next().then((request) => request.enhance({ timeout: ANSWER_MS })),
        }),
      ],
      ...(address.auth ? { auth: address.auth } : {}),
    },
    // Whatever unions a newer writer has, its schema can be loaded; whether we can read it is the decoder's matter.
    { [SchemaType.AVRO]: { wrapUnions: true } },
  );
  const own = new Map<TopicName, Promise<number>>();
  const noes = createNoes<TopicName>(clock, STARTING_MS, TOPIC_NAMES.length);
  const texts = new Map<number, string>();
  const missing = createMissing(clock);
  const shown = new Map<TopicName, { at: number; answer: Promise<boolean> }>();

  async function lookUp(topic: TopicName): Promise<number> {
    const id = await registeredId(address, topic).catch((error) => {
      noes.forget(topic);
      throw error;
    });
    if (id !== null) return id;
    const sure = noes.note(topic);
    const message = `the schema registry at ${address.url} does not have this release's schema under ${subjectOf(topic)}: run flipstream kafka setup`;
    throw sure
      ? new FlipstreamError('schema_unregistered', 'usage', message)
      : new FlipstreamError('schema_pending', 'retryable', message);
  }

  async function find(id: number, topic: TopicName): Promise<string> {
    missing.check(id);
    let type: object;
    try {
      type = await client.getSchema(id);
    } catch (cause) {
      if (statusOf(cause) === 404 && (await answersNo(id, topic))) missing.note(id);
      missing.forget(id);
      if (cause instanceof Error && cause.constructor.name === 'ConfluentSchemaRegistryArgumentError')
        throw unreadable(id, cause.message);
      throw failure(address.url, cause);
    }
    if (!(type instanceof avro.Type)) throw unreadable(id, 'it is not an Avro schema');
    return ourText(type) ?? JSON.stringify(type);
  }

  async function answersNo(id: number, topic: TopicName): Promise<boolean> {
    try {
      if (!(await saysNo(address, id))) return false;
      if (!(await shows(topic))) throw notShown(address.url, topic);
      return true;
    } catch (error) {
      missing.forget(id);
      throw error;
    }
  }

  /** Whether our own schema for `topic` is there, to this user, now. */
  function shows(topic: TopicName): Promise<boolean> {
    const known = shown.get(topic);
    if (known && clock() - known.at < ASK_MS) return known.answer;
    const answer = registeredId(address, topic).then((id) => id !== null);
    shown.set(topic, { at: clock(), answer });
    return answer;
  }

  return {
    idFor(topic) {
      const known = own.get(topic);
      if (known) return known;
      const asked = lookUp(topic);
      own.set(topic, asked);
      asked.catch(() => own.delete(topic));
      return asked;
    },
    async schemaOf(id, topic) {
      const known = texts.get(id);
      if (known !== undefined) return known;
      const text = await find(id, topic);
      texts.set(id, text);
      missing.forget(id);
      return text;
    },
  };
}

/** A 404 of a proxy, or of a registry that is starting, is no answer about a schema. */
async function saysNo(address: RegistryAddress, id: number): Promise<boolean> {
  const { status, code } = await askRegistry(address, 'GET', `/schemas/ids/${id}`);
  return status === 404 && code === 40403;
}

function notShown(url: string, topic: TopicName): FlipstreamError {
  return new FlipstreamError(
    'schema_pending',
    'retryable',
    `the schema registry at ${url} has neither the writer\u2019s schema nor this release\u2019s under ${subjectOf(topic)}, or does not show them to this user: it may be starting; else see that it is the right one, what this user may read there, and that flipstream kafka setup has been run; nothing is set aside because of it`,
  );
}

/** Our own text of a schema that is written alike, whatever a registry did to its spelling. */
function ourText(type: avro.Type): string | undefined {
  const name = SCHEMA_NAMES.find((each) => type.name === `flipstream.${each}`);
  if (!name) return undefined;
  const ours = avro.Type.forSchema(JSON.parse(schemaText(name)) as avro.Schema, { wrapUnions: true });
  return ours.fingerprint().equals(type.fingerprint()) ? schemaText(name) : undefined;
}

function unreadable(id: number, why: string): FlipstreamError {
  return new FlipstreamError('schema_unreadable', 'fatal', `schema ${id} cannot be used: ${why}`);
}

function failure(url: string, cause: unknown): FlipstreamError {
  return unavailable(url, reasonOf(statusOf(cause), messageOf(cause)), cause);
}

function reasonOf(status: number | undefined, message: string): string {
  if (status === 401 || status === 403) return `it answers with status ${status}: are the credentials right?`;
  return status === 404 ? 'status 404, but not a registry\u2019s' : message;
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
    ? error.status
    : undefined;
}
