import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';

export interface ListenOn {
  /** Default: loopback. */
  host?: string;
  /** Default: any free one. */
  port?: number;
  /** A unix socket instead of host and port. */
  socket?: string;
  /** PEM files. Without them only this machine is listened to: tokens would cross the network in the clear. */
  tls?: { cert: string; key: string };
}

/** Connections that may wait to be taken: Node's 511 are too few when many hosts ask at once, and the rest are cut off. */
const BACKLOG = 4096;

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

/**
 * Listens where it was told to.
 * @throws FlipstreamError `oracle_plain`, `oracle_port`, `tls_unreadable` (usage).
 */
export async function listen(
  { host = '127.0.0.1', port = 0, socket, tls }: ListenOn,
  create: (tls: { cert: Buffer; key: Buffer } | undefined) => FastifyInstance,
): Promise<{ url: string; close: () => Promise<void> }> {
  if (socket === undefined && !tls && !LOOPBACK.test(host))
    throw new FlipstreamError(
      'oracle_plain',
      'usage',
      `tokens and diffs would cross the network in the clear at ${host}: give --tls-cert and --tls-key, or listen on 127.0.0.1 or unix:<path>`,
    );
  const server = create(tls && { cert: readPem(tls.cert), key: readPem(tls.key) });
  try {
    if (socket !== undefined) {
      rmSync(socket, { force: true }); // the home's lock is ours, so whoever had it is gone
      await server.listen({ path: socket, backlog: BACKLOG });
      chmodSync(socket, 0o666); // whoever may reach it still needs a token
    } else await server.listen({ host, port, backlog: BACKLOG });
  } catch (cause) {
    await server.close();
    throw new FlipstreamError('oracle_port', 'usage', `the oracle cannot listen: ${messageOf(cause)}`, cause);
  }
  return { url: urlOf(server, socket, host, tls !== undefined), close: () => server.close() };
}

function urlOf(server: FastifyInstance, socket: string | undefined, host: string, secured: boolean): string {
  if (socket !== undefined) return `unix:${socket}`;
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `${secured ? 'https' : 'http'}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

function readPem(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new FlipstreamError(
      'tls_unreadable',
      'usage',
      `${path} cannot be read: ${messageOf(cause)}`,
      cause,
    );
  }
}
