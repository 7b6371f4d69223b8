import { createServer as createPlain } from 'node:http';
import { createServer as createSecured } from 'node:https';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { FeedAnswer } from '../../schemas/feed.ts';
import { ANSWER_BYTES, type AnswerCode, GradeRequest } from '../../schemas/grade.ts';
import type { Placement } from '../keys/key.ts';
import type { Oracle } from '../oracle.ts';
import { feedFor } from '../outbox.ts';
import { bundleOf } from '../tasks/mirror.ts';
import { readyTask } from '../tasks/rows.ts';
import type { Desk } from './desk.ts';
import { placementOf } from './placement.ts';
import { mayAsk, type Principal, principalOf } from './tokens.ts';

export interface ServerOptions {
  bodyLimit: number;
  /** Whether verdicts reach the log by the oracle itself; else agent hosts fetch them. */
  publishes: boolean;
  /** PEM; without it the requests come in the clear. */
  tls?: { cert: Buffer; key: Buffer } | undefined;
  /** What the operator says of this host; a verdict repeats it only for a peer that is not local. */
  placement: Placement;
}

/**
 * The HTTP face. POST /v1/grade answers with the same status, headers and number of bytes whatever it says;
 * only a missing or unknown token shows in the status, with a body like any other.
 */
export function createServer(oracle: Oracle, desk: Desk, options: ServerOptions): FastifyInstance {
  const { bodyLimit, tls } = options;
  const server = Fastify({
    ...{ bodyLimit, logger: false, forceCloseConnections: true },
    serverFactory: (handler) => (tls ? createSecured(tls, handler) : createPlain(handler)),
  });

  server.addHook('onRequest', async (request, reply) => {
    reply.raw.sendDate = false;
    if (!principalOf(oracle, request.headers.authorization)) return answer(reply.code(401), 'NO_TASK');
  });

  // Whatever is wrong with a request (no JSON, too large): a grade that cannot be asked for is NO_TASK.
  server.setErrorHandler(async (_error, _request, reply) => answer(reply.code(200), await desk.refuse()));

  server.post('/v1/grade', async (request, reply) => {
    const principal = principalFor(oracle, request);
    const asked = GradeRequest.safeParse(request.body);
    const code = asked.success
      ? await desk.ask(principal, asked.data, placementOf(request.socket, options.placement))
      : await desk.refuse();
    return answer(reply, code);
  });

  server.get<{ Params: { id: string } }>('/v1/tasks/:id', async (request, reply) => {
    const task = taskFor(oracle, request, request.params.id);
    if (!task) return reply.code(404).send({ error: 'no such task' });
    const { task_id, base_commit, root_commit } = task.row;
    return { task_id, base_commit, root_commit };
  });

  server.get<{ Params: { id: string } }>('/v1/tasks/:id/bundle', async (request, reply) => {
    const task = taskFor(oracle, request, request.params.id);
    if (!task) return reply.code(404).send({ error: 'no such task' });
    return reply.type('application/octet-stream').send(await bundleOf(task.mirror));
  });

  server.get('/v1/feed', async (request, reply) => {
    const asked = FeedQuery.safeParse(request.query);
    if (!asked.success) return reply.code(400).send({ error: 'after must be a number' });
    const principal = principalFor(oracle, request);
    const feed = options.publishes
      ? { next: 0, records: [] }
      : feedFor(oracle.db, principal.name, (id) => mayAsk(principal, id), asked.data.after);
    const answer: FeedAnswer = { oracle_host: oracle.oracleHost, publishes: options.publishes, ...feed };
    return answer;
  });

  return server;
}

const FeedQuery = z.object({ after: z.coerce.number().int().min(0).default(0) });

function principalFor(oracle: Oracle, request: FastifyRequest): Principal {
  // The hook has refused everyone else; a token revoked since then may ask for nothing.
  return principalOf(oracle, request.headers.authorization) ?? { name: 'revoked', tasks: [] };
}

function taskFor(oracle: Oracle, request: FastifyRequest, taskId: string) {
  return mayAsk(principalFor(oracle, request), taskId) ? readyTask(oracle, taskId) : null;
}

function answer(reply: FastifyReply, code: AnswerCode): FastifyReply {
  // Set here always, since the server would set it for some kinds of bad request only.
  reply.header('connection', 'close');
  return reply.type('text/plain; charset=utf-8').send(code.padEnd(ANSWER_BYTES));
}
