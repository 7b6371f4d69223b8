/** An oracle that cannot write into the home's log: its verdicts are fetched, over a unix socket here. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { verdict } from '../consumers/sink/testing.ts';
import type { Outgoing } from '../log/log.ts';
import { exportKeyRing } from '../oracle/keys/ring.ts';
import { startOracle } from '../oracle/main.ts';
import { createToken } from '../oracle/service/tokens.ts';
import { taskAdd } from '../oracle/tasks/add.ts';
import { taskCheck } from '../oracle/tasks/check.ts';
import {
  fakeRunner,
  gradeRequest,
  makeOracle,
  makeRepository,
  taskDirectory,
  temporaryDirectory,
  testLog,
} from '../oracle/testing.ts';
import { oracleAt } from '../producers/collector/grader.ts';
import { startVerdictFeed } from '../producers/collector/verdict-feed.ts';
import { rejectionOf } from '../schemas/signature.ts';
import { listen } from './support/listen.ts';

const quiet = () => {};
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 10_000, interval: 10 });

async function served(socket: string, publishes = false) {
  const runner = fakeRunner();
  const oracle = makeOracle({ runner });
  await taskAdd(oracle, taskDirectory(makeRepository()));
  const { row } = await taskCheck(oracle, 'demo-split-bill');
  const own = testLog();
  const service = await startOracle({
    ...{ home: oracle.home, runner, socket, bucketMs: 5, log: publishes ? own : null },
    logger: pino({ level: 'silent' }),
  });
  onTestFinished(() => service.stop());
  const host = (name: string, tasks = ['*']) => ({
    url: service.url,
    token: createToken(oracle, name, tasks),
  });
  return { oracle, row, service, host, own };
}

function fetching(oracle: { url: string; token: string }, feed: string, log = testLog()) {
  const warned: string[] = [];
  const running = startVerdictFeed({
    home: { feed },
    oracle,
    log,
    everyMs: 10,
    warn: (message) => warned.push(message),
  });
  onTestFinished(() => running.stop());
  const verdicts = () =>
    log.records.filter((record): record is Outgoing<'oracle.verdicts'> => record.topic === 'oracle.verdicts');
  return { log, warned, running, verdicts };
}

test('a verdict reaches the home of the host that asked, unchanged, and no other', async () => {
  const { oracle, row, host } = await served(join(temporaryDirectory(), 's'));
  const [ours, other] = [host('ours'), host('other', ['another-task'])];
  const mine = fetching(ours, join(temporaryDirectory(), 'feed'));
  const theirs = fetching(other, join(temporaryDirectory(), 'feed'));
  const request = gradeRequest(row, 'good');
  expect(await oracleAt(ours, quiet)(request, 10_000)).toEqual({ answer: 'PASS', reached: true });
  await eventually(() => expect(mine.verdicts()).toHaveLength(2));
  expect(mine.verdicts().map(({ key, value }) => [key, value.mode, value.request_id])).toEqual([
    ['session', 'baseline', null],
    ['session', 'grade', request.request_id],
  ]);
  const ring = exportKeyRing(oracle.home, 'process');
  expect(mine.verdicts().map(({ value }) => rejectionOf(value, ring))).toEqual([null, null]);
  expect(mine.log.records.filter(({ topic }) => topic === 'tasks').length).toBeGreaterThan(0);
  expect(theirs.log.records).toEqual([]);
});

test('a log that is down, and a fetcher that is stopped, lose none and repeat none', async () => {
  const { row, host } = await served(join(temporaryDirectory(), 's'));
  const ours = host('ours');
  const feed = join(temporaryDirectory(), 'feed');
  const first = fetching(ours, feed);
  first.log.down = true;
  const ask = (diff: string, session_id: string) =>
    oracleAt(ours, quiet)(gradeRequest(row, diff, { session_id }), 10_000);
  await ask('good', 'a');
  await eventually(() =>
    expect(first.warned).toEqual(['verdicts cannot be fetched from the oracle; they wait there']),
  );
  first.log.down = false;
  await eventually(() => expect(first.verdicts()).toHaveLength(2));
  await first.running.stop();
  await ask('bad', 'b');
  const second = fetching(ours, feed);
  await eventually(() => expect(second.verdicts().map(({ key }) => key)).toEqual(['b', 'b']));
});

test('an oracle that only starts, slowly, beside the collector is no outage; one that never comes is', async () => {
  let looks = 0;
  const socket = join(temporaryDirectory(), 's');
  const oracle = {
    get url() {
      looks++;
      return `unix:${socket}`;
    },
    token: 't',
  };
  const { warned } = fetching(oracle, join(temporaryDirectory(), 'feed'));
  await eventually(() => expect(looks).toBeGreaterThan(10));
  expect(warned).toEqual([]);
  await eventually(() => expect(looks).toBeGreaterThan(20));
  expect(warned).toEqual(['verdicts cannot be fetched from the oracle; they wait there']);
});

test('a verdict of a newer release waits at the oracle instead of losing what its signature covers', async () => {
  let answers = 0;
  const value = { ...verdict('v', 's').value, mood: 'curious' };
  const records = [{ topic: 'oracle.verdicts', key: 's', value }];
  const server = createServer((_, response) => {
    answers++;
    response.end(JSON.stringify({ oracle_host: 'o', publishes: false, next: 1, records }));
  });
  const { url, close } = await listen(server);
  onTestFinished(close);
  const feed = join(temporaryDirectory(), 'feed');
  const { log, warned } = fetching({ url, token: 't' }, feed);
  await eventually(() => expect(answers).toBeGreaterThan(2));
  expect(warned).toHaveLength(1);
  expect(log.records).toEqual([]);
  expect(existsSync(feed)).toBe(false);
});

test('another oracle behind the same address is fetched from its beginning', async () => {
  const socket = join(temporaryDirectory(), 's');
  const feed = join(temporaryDirectory(), 'feed');
  const before = await served(socket);
  const old = fetching(before.host('ours'), feed);
  await oracleAt(before.host('ours'), quiet)(gradeRequest(before.row, 'good'), 10_000);
  await eventually(() => expect(old.verdicts()).toHaveLength(2));
  await old.running.stop();
  await before.service.stop();
  const after = await served(socket);
  const fresh = fetching(after.host('ours'), feed);
  await oracleAt(after.host('ours'), quiet)(gradeRequest(after.row, 'good'), 10_000);
  await eventually(() => expect(fresh.verdicts()).toHaveLength(2));
});

test('an oracle that publishes by itself gives nothing to fetch', async () => {
  const { row, host, own } = await served(join(temporaryDirectory(), 's'), true);
  const ours = host('ours');
  const mine = fetching(ours, join(temporaryDirectory(), 'feed'));
  await oracleAt(ours, quiet)(gradeRequest(row, 'good'), 10_000);
  await eventually(() =>
    expect(own.records.filter(({ topic }) => topic === 'oracle.verdicts')).toHaveLength(2),
  );
  expect(mine.log.records).toEqual([]);
});
