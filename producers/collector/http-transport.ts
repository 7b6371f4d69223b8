import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { OFF_HEADER, saysOff } from '../silence.ts';
import { readBody, refuse } from './body.ts';

export interface HttpDeps {
  port: number;
  token: string;
  /** Largest payload, bytes. */
  limit: number;
  /** Keeps a payload durably in the spool. @throws when it could not */
  accept: (payload: Buffer, registration: string) => Promise<void>;
  /** A payload that is too large is lost, and counted. */
  tooLarge: () => void;
  warn: (message: string, fields: Record<string, unknown>) => void;
  /** Called whenever a request was refused. */
  onRefusal: (refused: Refusals) => void;
}

/** Why requests were refused, counted: `flipstream doctor` shows it. */
export type Refusals = Record<'host' | 'origin' | 'token' | 'path' | 'too_large' | 'failed', number>;

export const NO_REFUSALS: Refusals = { host: 0, origin: 0, token: 0, path: 0, too_large: 0, failed: 0 };

const LOOPBACK = '127.0.0.1';
const REGISTRATION = /^[\w.-]{1,64}$/;

/**
 * The resident transport of hooks (oracle-design, "Where things live"): loopback only, one bearer token that can
 * do nothing but append, the Host it was called by must be its own (a page in a browser cannot make it so), and
 * no request from a page at all. The answer is empty and comes when the payload is durable; of a session that
 * FLIPSTREAM_OFF silences nothing is read.
 * @throws FlipstreamError `http_port_taken` (usage)
 */
export async function listenOnLoopback(deps: HttpDeps): Promise<{ server: Server; port: number }> {
  const refused = { ...NO_REFUSALS };
  const wanted = digest(`Bearer ${deps.token}`);
  let port = deps.port;

  function reasonAgainst(request: IncomingMessage): { why: keyof Refusals; status: number } | null {
    const { host, origin, authorization = '' } = request.headers;
    if (host !== `${LOOPBACK}:${port}`) return { why: 'host', status: 421 };
    if (origin !== undefined) return { why: 'origin', status: 403 };
    if (!timingSafeEqual(digest(authorization), wanted)) return { why: 'token', status: 401 };
    return null;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const against = reasonAgainst(request);
    if (against) return no(request, response, against.why, against.status);
    const url = new URL(request.url ?? '/', `http://${LOOPBACK}`);
    if (request.method !== 'POST' || url.pathname !== '/hook') return no(request, response, 'path', 404);
    const registration = url.searchParams.get('registration') ?? 'http';
    if (!REGISTRATION.test(registration)) return no(request, response, 'path', 400);
    if (saysOff(one(request.headers[OFF_HEADER]))) {
      request.resume();
      response.writeHead(200, { 'content-length': 0 }).end();
      return;
    }
    const payload = await readBody(request, deps.limit);
    if (!payload) {
      deps.tooLarge();
      return no(request, response, 'too_large', 413);
    }
    await deps.accept(payload, registration);
    response.writeHead(200, { 'content-length': 0 }).end();
  }

  function no(request: IncomingMessage, response: ServerResponse, why: keyof Refusals, status: number): void {
    refused[why] += 1;
    deps.onRefusal(refused);
    refuse(request, response, status);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      refused.failed += 1;
      deps.onRefusal(refused);
      deps.warn('a payload could not be kept', { why: messageOf(error) });
      if (!response.headersSent && !response.destroyed) refuse(request, response, 503);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const message = `Port ${deps.port} of ${LOOPBACK} cannot be listened on (${error.message}): stop what uses it, or run flipstream init --transport http again for another.`;
      reject(new FlipstreamError('http_port_taken', 'usage', message, error));
    });
    server.listen(deps.port, LOOPBACK, resolve);
  });
  server.on('error', ({ message }) => deps.warn('a connection could not be taken', { why: message }));
  const address = server.address();
  if (typeof address === 'object' && address !== null) port = address.port;
  return { server, port };
}

const one = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);

/** Of equal length whatever was sent, so that the comparison tells nothing by its time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
