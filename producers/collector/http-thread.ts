import { Worker } from 'node:worker_threads';
import { type ErrorClass, FlipstreamError } from '../../schemas/errors.ts';
import type { AcceptorOptions } from './acceptor.ts';
import { NO_REFUSALS, type Refusals } from './http-transport.ts';

/** What the thread is started with. */
export interface Asked extends AcceptorOptions {
  port: number;
  token: string;
}

/** What it says. */
export type Said =
  | { port: number }
  | { refused: Refusals }
  | { warning: string; fields: Record<string, unknown> }
  | { failed: { code: string; kind: ErrorClass; message: string } };

export interface HttpTransport {
  readonly port: number;
  readonly refused: Refusals;
  close(): Promise<void>;
}

/** The build gives this name the extension of the package's modules. */
const HOST = new URL('./http-worker.ts', import.meta.url);
const RESTART_MS = 200;

/**
 * Listens for hooks over HTTP in a thread of its own; one that dies is started again on the same port.
 * @throws FlipstreamError `http_port_taken` (usage)
 */
export async function startHttpThread(
  asked: Asked,
  warn: (message: string, fields: Record<string, unknown>) => void,
): Promise<HttpTransport> {
  let refused: Refusals = NO_REFUSALS;
  let closing = false;
  let worker: Worker;
  /** Resolves when it has ended, also for whoever asks afterwards. */
  let gone: Promise<void>;

  function start(port: number): Promise<number> {
    const started = new Worker(HOST, { workerData: { ...asked, port } });
    worker = started;
    gone = new Promise((resolve) => started.once('exit', () => resolve()));
    return new Promise<number>((resolve, reject) => {
      started.on('message', (said: Said) => {
        if ('port' in said) resolve(said.port);
        else if ('refused' in said) refused = said.refused;
        else if ('warning' in said) warn(said.warning, said.fields);
        else {
          reject(new FlipstreamError(said.failed.code, said.failed.kind, said.failed.message));
          started.terminate();
        }
      });
      started.on('error', (error) => {
        warn('the thread of the HTTP transport failed', { why: error.message });
        reject(error);
      });
      started.on('exit', () => reject(new Error('the thread of the HTTP transport ended')));
    });
  }

  function watchOver(port: number): void {
    void gone.then(() => {
      if (closing) return;
      warn('the thread of the HTTP transport ended; it is started again', { port });
      setTimeout(() => {
        if (closing) return;
        start(port)
          .catch(() => undefined)
          .finally(() => watchOver(port));
      }, RESTART_MS).unref();
    });
  }

  const port = await start(asked.port);
  watchOver(port);
  return {
    port,
    get refused() {
      return refused;
    },
    async close() {
      closing = true;
      worker.postMessage('stop');
      const late = setTimeout(() => void worker.terminate(), 2_000);
      await gone;
      clearTimeout(late);
    },
  };
}
