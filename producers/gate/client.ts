import type { Agent } from 'node:http';
import { jsonObject } from '../json-object.ts';

/** A connection to the collector's unix socket; requests go one after the other over the same one. */
export interface Client {
  /**
   * @param timeoutMs silence after which the request is given up
   * @throws Unreachable nobody listens; LateAnswer; Error for an answer that is no JSON object with status 200
   */
  post(path: string, body: object, timeoutMs: number): Promise<Record<string, unknown>>;
  close(): void;
}

export class Unreachable extends Error {}
export class LateAnswer extends Error {}

const MAX_ANSWER_BYTES = 64 * 1024;

/** `node:http` is loaded here and not before: no other hook pays for it. */
export async function connect(socketPath: string): Promise<Client> {
  const { Agent, request } = await import('node:http');
  const agent: Agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const post = (path: string, body: object, timeoutMs: number) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const payload = Buffer.from(JSON.stringify(body));
      const headers = { 'content-type': 'application/json', 'content-length': payload.length };
      const outgoing = request({ socketPath, agent, path, method: 'POST', headers }, (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_ANSWER_BYTES) outgoing.destroy(new Error('the answer is too long'));
          else chunks.push(chunk);
        });
        response.on('error', settle(reject));
        response.on('end', () => {
          const answer = jsonObject(Buffer.concat(chunks).toString('utf8'));
          if (response.statusCode === 200 && answer) settle(resolve)(answer);
          else settle(reject)(new Error(`${path} was answered with status ${response.statusCode}`));
        });
      });
      const timer = setTimeout(
        () => outgoing.destroy(new LateAnswer(`${path}: no answer in time`)),
        timeoutMs,
      );
      const settle =
        <T>(how: (value: T) => void) =>
        (value: T) => {
          clearTimeout(timer);
          how(value);
        };
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        const nobody = error.code === 'ENOENT' || error.code === 'ECONNREFUSED' || error.code === 'EACCES';
        settle(reject)(nobody ? new Unreachable(error.message) : error);
      });
      outgoing.end(payload);
    });
  return { post, close: () => agent.destroy() };
}
