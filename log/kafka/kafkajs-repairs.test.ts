import { createServer, type Server, type Socket } from 'node:net';
import Connection from 'kafkajs/src/network/connection.js';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import { afterEach, expect, test } from 'vitest';
import { createClient, socketFactory } from './client.ts';

const CORRELATION_AT = 8;

let server: Server | undefined;
let connection: Connection | undefined;
afterEach(async () => {
  await connection?.disconnect();
  server?.close();
});

/** A connection to a broker that does with each request what `answer` says. */
async function connectionTo(answer: (socket: Socket, request: Buffer) => void) {
  const sockets: Socket[] = [];
  const listening = createServer((socket) => {
    sockets.push(socket);
    socket.on('data', (request) => answer(socket, request));
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const address = listening.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const logger = createClient({ brokers: [`127.0.0.1:${port}`], sasl: undefined, tls: false }).logger();
  const options = { host: '127.0.0.1', port, logger, socketFactory, connectionTimeout: 5_000 };
  server = listening;
  connection = new Connection({ ...options, requestTimeout: 2_000 });
  return { connection, sockets };
}

/** Asks for anything; what comes back is the answer's body. */
const ask = (of: Connection) =>
  of.send({
    request: { apiKey: 18, apiVersion: 0, apiName: 'Test', encode: async () => new Encoder() },
    response: { decode: async (body: Buffer) => body.toString(), parse: async (body) => body },
  });

function answerTo(request: Buffer, body: string): Buffer {
  const head = Buffer.alloc(8);
  head.writeInt32BE(4 + body.length, 0);
  request.copy(head, 4, CORRELATION_AT, CORRELATION_AT + 4);
  return Buffer.concat([head, Buffer.from(body)]);
}

test('half of an answer, cut off by the end of a connection, is not put before the answers of the next', async () => {
  let requests = 0;
  const { connection } = await connectionTo((socket, request) => {
    const whole = answerTo(request, 'x'.repeat(100));
    if (++requests > 1) socket.write(whole);
    else socket.write(whole.subarray(0, 50), () => socket.destroy());
  });
  await connection.connect();
  await expect(ask(connection)).rejects.toThrow();
  await connection.connect();
  expect(await ask(connection)).toBe('x'.repeat(100));
});

test('what is asked together while there is no connection shares one', async () => {
  const { connection, sockets } = await connectionTo((socket, request) =>
    socket.write(answerTo(request, 'x')),
  );
  await Promise.all(Array.from({ length: 5 }, () => connection.connect()));
  expect(await ask(connection)).toBe('x');
  expect(sockets).toHaveLength(1);
});
