import { chmodSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { z } from 'zod';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { readJsonAs } from '../../schemas/read-as.ts';
import { answerJson, readBody, refuse } from './body.ts';
import { DrainRequest, GradeAsk, OpenRequest } from './gate-api.ts';
import type { GateService } from './gate-service.ts';

export interface SocketDeps {
  path: string;
  /** Who may use the socket: 0o600, or 0o666 where the collector is another user than the agent. */
  mode: number;
  gate: GateService;
  drained: (deadlineMs: number) => Promise<boolean>;
  status: () => object;
  warn: (message: string, fields: Record<string, unknown>) => void;
}

/** A diff of 32 MiB in base64 and what is around it. */
const MAX_BODY_BYTES = 64 * 2 ** 20;
/** Linux takes 108 bytes with the final zero, macOS 104. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/**
 * Listens on the collector's unix socket. Only its owner reaches it, and only one collector a home comes this
 * far, so a socket file that lies there is a dead one's.
 * @throws FlipstreamError `socket_path_too_long` (usage), `socket_unusable` (fatal)
 */
export async function listenOnSocket(deps: SocketDeps): Promise<Server> {
  const { path } = deps;
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    const message = `${path} is longer than the ${MAX_PATH_BYTES} bytes that a socket's name may have: set FLIPSTREAM_HOME to a shorter path.`;
    throw new FlipstreamError('socket_path_too_long', 'usage', message);
  }
  const server = createServer((request, response) => {
    handle(deps, request, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) return;
      const status = error instanceof FlipstreamError && error.kind === 'usage' ? 400 : 500;
      const code = error instanceof FlipstreamError ? error.code : 'internal';
      deps.warn('a request over the socket failed', { path: request.url, code, why: messageOf(error) });
      answerJson(response, status, { error: code });
    });
  });
  // a gate keeps its connection while it builds the diff and while the oracle thinks
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.timeout = 0;
  server.on('connection', (socket) => socket.once('close', () => deps.gate.gone(socket)));
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const message = `${path} cannot be listened on (${error.message}): check that its folder is writable.`;
      reject(new FlipstreamError('socket_unusable', 'fatal', message, error));
    });
    server.listen(path, resolve);
  });
  server.on('error', ({ message }) => deps.warn('a connection could not be taken', { why: message }));
  chmodSync(path, deps.mode);
  return server;
}

async function handle(deps: SocketDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { gate } = deps;
  const path = request.url ?? '';
  if (request.method === 'GET' && path === '/status') return answerJson(response, 200, deps.status());
  if (request.method !== 'POST') return refuse(request, response, 405);
  const body = await readBody(request, MAX_BODY_BYTES);
  if (!body) return refuse(request, response, 413);
  const caller = request.socket;
  if (path === '/gate/open')
    return answerJson(response, 200, await gate.open(caller, parse(OpenRequest, body)));
  if (path === '/gate/grade')
    return answerJson(response, 200, await gate.grade(caller, parse(GradeAsk, body)));
  if (path === '/drain') {
    const { deadline_ms } = parse(DrainRequest, body);
    return answerJson(response, 200, { drained: await deps.drained(deadline_ms) });
  }
  return refuse(request, response, 404);
}

function parse<S extends z.ZodType>(schema: S, body: Buffer): z.infer<S> {
  const read = readJsonAs(schema, () => (body.length === 0 ? '{}' : body.toString('utf8')));
  if (read.ok) return read.data;
  const message = `the request cannot be taken: ${read.problem}`;
  throw new FlipstreamError('bad_request', 'usage', message, read.cause);
}
