/** The server between a test and its registry: counts what is asked, and makes trouble on demand. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { listen } from './listen.ts';

/**
 * What comes instead of an answer: an outage, a proxy's error, a silence, a 401 for all but `u` with the password
 * `p`, or what a registry says that has not read its own records yet: that there is nothing.
 */
type Trouble = 'none' | 'unavailable' | 'proxy-404' | 'silent' | 'unauthorized' | 'starting';

interface Reply {
  status: number;
  /** JSON. */
  body: string;
}

/** A registry: what it answers to a request such as `GET /subjects` with a body. */
export type Answers = (request: string, given: string) => Promise<Reply>;

export interface RegistryServer {
  url: string;
  /** Paths asked for, with their method, since the start. */
  requests: string[];
  trouble: Trouble;
  /** Asks past the trouble and the count. @throws Error with what the registry refuses */
  ask(request: string, body?: unknown): Promise<unknown>;
  /** Returns the id. */
  register(subject: string, schema: string, schemaType?: string): Promise<number>;
  close(): Promise<void>;
}

const Registered = z.object({ id: z.number() });
const CREDENTIALS = `Basic ${Buffer.from('u:p').toString('base64')}`;
const WRITES = /^PUT |^POST .*\/versions$/;

/** @param end what is left to do once the server is closed */
export async function serveRegistry(answers: Answers, end = async () => {}): Promise<RegistryServer> {
  const server = createServer((request, response) => void respond(request, response));
  const { url, close } = await listen(server);
  const self: RegistryServer = {
    url,
    close: () => close().then(end),
    requests: [],
    trouble: 'none',
    async ask(request, body) {
      const reply = await answers(request, body === undefined ? '' : JSON.stringify(body));
      if (reply.status !== 200) throw new Error(`${request}: ${reply.status} ${reply.body}`);
      return JSON.parse(reply.body);
    },
    async register(subject, schema, schemaType = 'AVRO') {
      return Registered.parse(await self.ask(`POST /subjects/${subject}/versions`, { schema, schemaType }))
        .id;
    },
  };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = `${request.method} ${new URL(request.url ?? '/', url).pathname}`;
    self.requests.push(line);
    const given = await text(request);
    if (self.trouble === 'silent') return;
    if (self.trouble === 'proxy-404') return void response.writeHead(404).end('<html>no route</html>');
    const reply = inTrouble(line, request.headers.authorization) ?? (await answers(line, given).catch(gone));
    response
      .writeHead(reply.status, { 'content-type': 'application/vnd.schemaregistry.v1+json' })
      .end(reply.body);
  }

  function inTrouble(line: string, authorization = ''): Reply | null {
    if (self.trouble === 'unavailable') return refusal(503, 50302, 'no leader');
    if (self.trouble === 'starting')
      return WRITES.test(line) ? refusal(500, 50003, 'no leader') : refusal(404, 40403, 'Schema not found');
    const refused = self.trouble === 'unauthorized' && authorization !== CREDENTIALS;
    // Without a code of its own, as Karapace says it.
    return refused ? { status: 401, body: JSON.stringify({ message: 'Unauthorized' }) } : null;
  }

  return self;
}

const gone = (error: unknown) => refusal(502, 50201, String(error));

export function refusal(status: number, code: number, message: string): Reply {
  return { status, body: JSON.stringify({ error_code: code, message }) };
}
