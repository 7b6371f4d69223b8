/** Serves figures to Prometheus, over HTTP on loopback. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { FlipstreamError, messageOf } from '../schemas/errors.ts';

export interface MetricsOptions {
  /** What a scrape is answered, in Prometheus' text format. */
  text: () => Promise<string>;
  /** 0: any free port. */
  port: number;
}

export interface MetricsEndpoint {
  /** Where it listens; loopback only, since it has no password. */
  url: string;
  close(): Promise<void>;
}

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';

/** @throws FlipstreamError `metrics_port` (usage) when the port is taken. */
export async function startMetrics({ text, port }: MetricsOptions): Promise<MetricsEndpoint> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      answer(response, 404, 'text/plain', 'GET /metrics\n');
      return;
    }
    text().then(
      (figures) => answer(response, 200, TEXT_FORMAT, figures),
      (error: unknown) => answer(response, 500, 'text/plain', `${messageOf(error)}\n`),
    );
  });
  const taken = await listen(server, port);
  return {
    url: `http://127.0.0.1:${taken}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new FlipstreamError('metrics_port', 'usage', `port ${port} cannot be used: choose another`, cause),
      );
    });
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}
