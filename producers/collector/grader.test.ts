import { createServer, type Server } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { GradeRequest } from '../../schemas/grade.ts';
import { oracleAt } from './grader.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function against(status: number, body: string | null) {
  server = createServer((request, response) => {
    request.resume();
    if (body === null || request.headers.authorization !== 'Bearer token') return;
    request.on('end', () => response.writeHead(status, { 'content-length': body.length }).end(body));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return oracleAt({ url: `http://127.0.0.1:${port}`, token: 'token' }, () => {});
}

const REQUEST: GradeRequest = {
  ...{
    request_id: 'q',
    session_id: 's',
    chain_id: 'c',
    head: 'h'.repeat(64),
    task_id: 't',
    base_commit: 'b',
  },
  ...{ root_commit: 'r', diff: '', diff_hash: 'd'.repeat(64), deadline_ms: 1000 },
};

test.each(['PASS', 'FAIL', 'ERROR', 'PENDING', 'NO_TASK'] as const)(
  '%s in sixteen bytes is an answer',
  async (code) => {
    const grade = await against(200, code.padEnd(16));
    expect(await grade(REQUEST, 5000)).toEqual({ answer: code, reached: true });
  },
);

test.each([
  [200, 'PASS'],
  [200, 'PASS'.padEnd(17)],
  [200, 'MAYBE'.padEnd(16)],
  [200, '{"verdict":"PA"}'],
  [403, 'PASS'.padEnd(16)],
  [302, 'PASS'.padEnd(16)],
])('status %i with %j is ERROR', async (status, body) => {
  const grade = await against(status, body);
  expect(await grade(REQUEST, 5000)).toEqual({ answer: 'ERROR', reached: false });
});

test('nobody there is ERROR; nobody answering in time is PENDING', async () => {
  const nobody = oracleAt({ url: 'http://127.0.0.1:1', token: 't' }, () => {});
  expect(await nobody(REQUEST, 5000)).toEqual({ answer: 'ERROR', reached: false });
  const silent = await against(200, null);
  expect(await silent(REQUEST, 30)).toEqual({ answer: 'PENDING', reached: false });
});
