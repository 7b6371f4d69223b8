/** A service over HTTP whose runner says by a diff's words how a grade ends, and a client that shows every byte. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { startOracle } from '../main.ts';
import { taskAdd } from '../tasks/add.ts';
import { taskCheck } from '../tasks/check.ts';
import {
  byContent,
  fakeRunner,
  makeOracle,
  makeRepository,
  runResult,
  taskDirectory,
  testLog,
} from '../testing.ts';

export const BUCKET = 100;
const fault = { class: 'disk_full', message: 'a reason that nobody outside may see' } as const;

export async function serve() {
  const runner = fakeRunner(async (job) => {
    const text = job.diff?.toString() ?? '';
    // A fast FAIL, a slow one, one that is refused, one that a control run follows.
    if (text.includes('slow')) await new Promise((resolve) => setTimeout(resolve, 60));
    if (text.includes('fault')) return runResult(0, 1, { suite: null, hidden: [], fault });
    if (text.includes('refused'))
      return runResult(0, 1, { refused: 'does not apply', suite: null, hidden: [] });
    return text.includes('suite') ? runResult(1, 1) : byContent(job);
  });
  const oracle = makeOracle({ runner });
  await taskAdd(oracle, taskDirectory(makeRepository(), { max_attempts: 20, daily_cap: 10_000 }));
  const { row } = await taskCheck(oracle, 'demo-split-bill');
  oracle.db.sql.exec('update tasks set baseline_ms = 40'); // as if it took that long
  const log = testLog();
  const service = await startOracle({
    ...{ home: oracle.home, runner, log, bucketMs: BUCKET, concurrency: 8, queueLimit: 2000, retryMs: [] },
    logger: pino({ level: 'silent' }),
  });
  onTestFinished(() => service.stop());
  return { oracle, row, log, service };
}

/** One request on a connection of its own: the bytes that come back, and when. */
export async function exchange(url: string, token: string, body: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const length = Buffer.byteLength(body);
  socket.write(
    `POST /v1/grade HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n${body}`,
  );
  const chunks: Buffer[] = [];
  let at = 0;
  socket.on('data', (chunk: Buffer) => {
    at ||= Date.now();
    chunks.push(chunk);
  });
  await once(socket, 'close');
  const bytes = Buffer.concat(chunks);
  const [head = '', text = ''] = bytes.toString().split('\r\n\r\n');
  return { at, bytes: bytes.length, head, text };
}
