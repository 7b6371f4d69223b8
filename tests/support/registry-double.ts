/** A schema registry for tests: the endpoints that the client uses, ids across subjects, and compatibility really checked. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { listen } from './listen.ts';
import { createSchemaStore, RegistryRefusal, type SchemaStore } from './registry-store.ts';

/** What the double does instead of answering: an outage, a proxy's error, a silence, a 401. */
type Trouble = 'none' | 'unavailable' | 'proxy-404' | 'silent' | 'unauthorized';

export interface RegistryDouble {
  url: string;
  store: SchemaStore;
  /** Paths asked for, with their method, since the start. */
  requests: string[];
  trouble: Trouble;
  close(): Promise<void>;
}

const Body = z.object({ schema: z.string(), schemaType: z.string().default('AVRO') });
const Level = z.object({ compatibility: z.string() });

/** @param store of an earlier double, for a registry that comes back. @param port the earlier one's. */
export async function startRegistryDouble(store = createSchemaStore(), port = 0): Promise<RegistryDouble> {
  const server = createServer((request, response) => void respond(request, response));
  const double: RegistryDouble = { ...(await listen(server, port)), store, requests: [], trouble: 'none' };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', double.url).pathname;
    double.requests.push(`${request.method} ${path}`);
    const send = (status: number, body: unknown) =>
      response
        .writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json' })
        .end(JSON.stringify(body));
    const given = await text(request);
    if (double.trouble === 'silent') return;
    if (double.trouble === 'unavailable') return void send(503, { error_code: 50302, message: 'no leader' });
    if (double.trouble === 'unauthorized')
      return void send(401, { error_code: 401, message: 'Unauthorized' });
    if (double.trouble === 'proxy-404') return void response.writeHead(404).end('<html>no route</html>');
    try {
      send(200, answer(store, `${request.method} ${path}`, given));
    } catch (error) {
      if (error instanceof RegistryRefusal)
        send(error.status, { error_code: error.code, message: error.message });
      else send(422, { error_code: 42201, message: String(error) });
    }
  }
  return double;
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
