import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { ANSWER_BYTES, AnswerCode } from '../../schemas/grade.ts';
import { type StartOptions, startOracle } from '../main.ts';
import { taskAdd } from '../tasks/add.ts';
import { taskCheck } from '../tasks/check.ts';
import {
  byContent,
  fakeRunner,
  gradeRequest,
  makeOracle,
  makeRepository,
  runGit,
  runResult,
  taskDirectory,
  temporaryDirectory,
  testLog,
} from '../testing.ts';
import { createToken } from './tokens.ts';

const logger: Logger = pino({ level: 'silent' });

async function setUp(options: Partial<StartOptions> = {}) {
  const fault = { class: 'disk_full', message: 'a long reason that nobody outside may see' } as const;
  const runner = fakeRunner(async (job) => {
    if (job.diff?.includes('hang'))
      await new Promise((_, reject) =>
        job.signal?.addEventListener('abort', () => reject(new Error('stopped'))),
      );
    return job.diff?.includes('fault') ? runResult(0, 1, { fault }) : byContent(job);
  });
  const oracle = makeOracle({ runner });
  const repository = makeRepository();
  await taskAdd(oracle, taskDirectory(repository));
  const { row } = await taskCheck(oracle, 'demo-split-bill');
  const token = createToken(oracle, 'host');
  const narrow = createToken(oracle, 'narrow', ['another-task']);
  const log = testLog();
  const service = await startOracle({
    home: oracle.home,
    log,
    runner,
    bucketMs: 20,
    concurrency: 2,
    maxDiffBytes: 1000,
    retryMs: [],
    logger,
    ...options,
  });
  return { oracle, row, token, narrow, log, service, repository, runner };
}

/** One request on a connection of its own, as the bytes that come back. */
async function exchange(url: string, token: string | null, body: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const auth = token === null ? '' : `authorization: Bearer ${token}\r\n`;
  socket.write(
    `POST /v1/grade HTTP/1.1\r\nhost: x\r\n${auth}content-type: application/json\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

test('O7 all five codes, and every kind of bad request, are the same bytes but for the code', async () => {
  const { row, token, narrow, service } = await setUp();
  const body = (diff: string, change = {}) => JSON.stringify(gradeRequest(row, diff, change));
  const bodies: [string, string, string][] = [
    ['PASS', token, body('good')],
    ['FAIL', token, body('bad')],
    ['ERROR', token, body('fault')],
    ['NO_TASK', token, body('x', { task_id: 'unknown' })],
    ['NO_TASK', narrow, body('x')],
    ['NO_TASK', token, '{'],
    ['NO_TASK', token, '{}'],
    ['NO_TASK', token, JSON.stringify({ pad: 'x'.repeat(30_000) })],
    ['PENDING', token, body('hang', { deadline_ms: 50 })],
  ];
  const heads = new Set<string>();
  for (const [code, by, text] of bodies) {
    const [head = '', answer = ''] = (await exchange(service.url, by, text)).split('\r\n\r\n');
    expect(answer).toBe(code.padEnd(ANSWER_BYTES));
    heads.add(head);
  }
  expect([...heads].slice(1)).toEqual([]);
  expect([...heads][0]).toMatch(/^HTTP\/1.1 200 OK/);
  for (const by of [null, 'wrong', token.slice(0, -1)]) {
    const [head = '', answer = ''] = (await exchange(service.url, by, body('good'))).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 401/);
    expect(answer).toBe('NO_TASK'.padEnd(ANSWER_BYTES));
  }
  expect(AnswerCode.options.every((code) => code.length <= ANSWER_BYTES)).toBe(true);
  await service.stop();
});

test('verdicts reach the log by themselves; a log that is down loses none', async () => {
  const { row, token, log, service } = await setUp();
  log.down = true;
  const answer = await exchange(service.url, token, JSON.stringify(gradeRequest(row, 'good')));
  expect(answer).toContain('PASS');
  expect(log.records.filter(({ topic }) => topic === 'oracle.verdicts')).toEqual([]);
  log.down = false;
  await service.stop();
  expect(log.records.filter(({ topic }) => topic === 'oracle.verdicts')).toHaveLength(2);
});

test('task start gets base, root, and a bundle with nothing newer; a token without the task gets nothing', async () => {
  const { row, token, narrow, service, repository } = await setUp();
  onTestFinished(() => service.stop());
  const get = (path: string, by: string) =>
    fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${by}` } });
  const known = await get('/v1/tasks/demo-split-bill', token);
  expect(await known.json()).toEqual({
    task_id: row.task_id,
    base_commit: row.base_commit,
    root_commit: row.root_commit,
  });
  for (const [path, by, status] of [
    ['/v1/tasks/demo-split-bill', narrow, 404],
    ['/v1/tasks/demo-split-bill/bundle', narrow, 404],
    ['/v1/tasks/none', token, 404],
    ['/v1/tasks/demo-split-bill', 'wrong', 401],
  ] as const)
    expect((await get(path, by)).status).toBe(status);
  const bundle = await get('/v1/tasks/demo-split-bill/bundle', token);
  const dir = temporaryDirectory();
  writeFileSync(join(dir, 'b'), Buffer.from(await bundle.arrayBuffer()));
  runGit(dir, 'clone', '--quiet', join(dir, 'b'), join(dir, 'clone'));
  expect(runGit(join(dir, 'clone'), 'rev-parse', 'HEAD')).toBe(runGit(repository, 'rev-parse', 'HEAD'));
});

test('a second service on the same home is refused, and the first goes on', async () => {
  const { oracle, log, service, runner } = await setUp();
  await expect(startOracle({ home: oracle.home, log, runner, logger })).rejects.toMatchObject({
    code: 'oracle_running',
  });
  await service.stop();
  const next = await startOracle({ home: oracle.home, log, runner, logger });
  await next.stop();
  writeFileSync(oracle.home.lock, 'my notes\n'.repeat(200));
  await expect(startOracle({ home: oracle.home, log, runner, logger })).rejects.toMatchObject({
    code: 'lock_unusable',
  });
});

test('a port that is taken is a sentence, and the home is free again', async () => {
  const { oracle, log, service, runner } = await setUp();
  const port = Number(new URL(service.url).port);
  await service.stop();
  const other = await startOracle({ home: oracle.home, log, runner, logger, port });
  const free = makeOracle({ runner });
  const start = () => startOracle({ home: free.home, log, runner, logger, port });
  await expect(start()).rejects.toMatchObject({ code: 'oracle_port', kind: 'usage' });
  await other.stop();
  await (await start()).stop();
});

test('tokens lie in the home as hashes only', async () => {
  const { oracle, token, service } = await setUp();
  await service.stop();
  oracle.db.sql.exec('pragma wal_checkpoint(truncate)');
  const found = execFileSync('sh', ['-c', `grep -rlF -e "${token}" . || true`], { cwd: oracle.home.root });
  expect(found.toString()).toBe('');
});
