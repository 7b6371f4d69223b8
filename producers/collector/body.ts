import type { IncomingMessage, ServerResponse } from 'node:http';

/** Reads a request's body; null when it is larger than `limit` bytes, with the rest of it unread. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer | null> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit) return Promise.resolve(null);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limit) {
        request.pause();
        resolve(null);
      } else chunks.push(chunk);
    });
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => reject(new Error('the connection was closed')));
  });
}

/** Answers with nothing but a status; the connection ends when the body was not read. */
export function refuse(request: IncomingMessage, response: ServerResponse, status: number): void {
  if (!request.complete) response.setHeader('connection', 'close');
  response.writeHead(status, { 'content-length': 0 }).end();
}

export function answerJson(response: ServerResponse, status: number, value: object): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
}
