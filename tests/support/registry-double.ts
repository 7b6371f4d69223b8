/** A schema registry of ours for tests: the endpoints that the client uses, ids across subjects, and compatibility really checked. */
import { z } from 'zod';
import { type Answers, type RegistryServer, refusal, serveRegistry } from './registry-server.ts';
import { createSchemaStore, RegistryRefusal, type SchemaStore } from './registry-store.ts';

/** Empty, on a port of its own. */
export function startRegistryDouble(): Promise<RegistryServer> {
  return serveRegistry(answersOf(createSchemaStore()));
}

const Body = z.object({ schema: z.string(), schemaType: z.enum(['AVRO', 'JSON']).default('AVRO') });
const Level = z.object({ compatibility: z.string() });

function answersOf(store: SchemaStore): Answers {
  return async (request, given) => {
    try {
      return { status: 200, body: JSON.stringify(answer(store, request, given)) };
    } catch (error) {
      if (error instanceof RegistryRefusal) return refusal(error.status, error.code, error.message);
      return refusal(422, 422, String(error));
    }
  };
}

function answer(store: SchemaStore, request: string, given: string): unknown {
  const schema = () => Body.parse(JSON.parse(given));
  for (const [route, handle] of routes(store, schema, () => Level.parse(JSON.parse(given)).compatibility)) {
    const found = route.exec(request);
    if (found) return handle(...found.slice(1).map(decodeURIComponent));
  }
  throw new RegistryRefusal(404, 404, 'HTTP 404 Not Found');
}

type Route = [RegExp, (...parts: string[]) => unknown];

function routes(
  store: SchemaStore,
  body: () => { schema: string; schemaType: string },
  level: () => string,
): Route[] {
  return [
    [/^GET \/schemas\/ids\/([^/]+)$/, (id = '') => store.byId(Number(id))],
    [/^GET \/subjects$/, () => store.subjects()],
    [/^GET \/subjects\/([^/]+)\/versions$/, (subject = '') => store.versions(subject)],
    [
      /^GET \/subjects\/([^/]+)\/versions\/([^/]+)$/,
      (subject = '', version = '') => store.version(subject, version),
    ],
    [
      /^DELETE \/subjects\/([^/]+)\/versions\/([^/]+)$/,
      (subject = '', version = '') => store.remove(subject, version),
    ],
    [/^POST \/subjects\/([^/]+)$/, (subject = '') => store.lookUp(subject, body())],
    [/^POST \/subjects\/([^/]+)\/versions$/, (subject = '') => ({ id: store.register(subject, body()) })],
    [/^GET \/config\/([^/]+)$/, (subject = '') => ({ compatibilityLevel: store.level(subject) })],
    [/^PUT \/config\/([^/]+)$/, (subject = '') => ({ compatibility: store.setLevel(subject, level()) })],
    [
      /^POST \/compatibility\/subjects\/([^/]+)\/versions\/([^/]+)$/,
      (subject = '', version = '') => {
        const messages = store.incompatibilities(subject, version, body());
        return { is_compatible: messages.length === 0, messages };
      },
    ],
  ];
}
