/** The HTTP transport's thread: what the collector does with chain and log never delays a hook. Started by http-thread.ts only. */
import { parentPort, workerData } from 'node:worker_threads';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { createAcceptor } from './acceptor.ts';
import type { Asked, Said } from './http-thread.ts';
import { listenOnLoopback } from './http-transport.ts';

const HTTP_LIMIT = 64 * 2 ** 20;
const thread = parentPort;
const say = (what: Said) => thread?.postMessage(what);

try {
  const { port, token, ...options }: Asked = workerData;
  const { accept, tooLarge } = createAcceptor(options);
  const listening = await listenOnLoopback({
    ...{ port, token, limit: HTTP_LIMIT, accept, tooLarge },
    onRefusal: (refused) => say({ refused }),
    warn: (message, fields) => say({ warning: message, fields }),
  });
  thread?.once('message', () => {
    listening.server.close(() => thread?.close());
    listening.server.closeAllConnections();
  });
  say({ port: listening.port });
} catch (error) {
  const ours =
    error instanceof FlipstreamError
      ? { code: error.code, kind: error.kind }
      : { code: 'http_unusable', kind: 'fatal' as const };
  say({ failed: { ...ours, message: messageOf(error) } });
}
