import { request, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Home } from '../home.ts';
import { readLosses } from '../spool/losses.ts';
import { type Collector, startCollector } from './collector.ts';
import { listenOnLoopback, NO_REFUSALS } from './http-transport.ts';
import { ask, entry, type MemoryLog, memoryLog, spool, T0, temporaryHome, told } from './testing.ts';

let home: Home;
let remove: () => void;
let log: MemoryLog;
let collector: Collector | undefined;
let port = 0;
const TOKEN = 'a-token';

beforeEach(() => {
  ({ home, remove } = temporaryHome());
  log = memoryLog();
});
afterEach(async () => {
  await collector?.stop();
  collector = undefined;
  remove();
});

async function start(clock = Date.now): Promise<void> {
  const settings = { v: 1 as const, http: { port: 0, token: TOKEN } };
  collector = await startCollector({
    home,
    log,
    clock,
    settings,
    warn: () => {},
    tune: { restMs: 1 },
  });
  port = collector.port ?? 0;
}

function post(body: string, headers: Record<string, string> = {}, path = '/hook?registration=http') {
  const all = { host: `127.0.0.1:${port}`, authorization: `Bearer ${TOKEN}`, ...headers };
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const to = { host: '127.0.0.1', port, path, method: 'POST', headers: all, agent: false };
    const outgoing = request(to, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, body: text }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const payload = (session: string, prompt = 'hi') =>
  JSON.stringify({ session_id: session, cwd: '/', hook_event_name: 'UserPromptSubmit', prompt });

test('a payload is answered with nothing once it is durable, and becomes the event that the command would make', async () => {
  await start();
  expect(await post(payload('s1', 'over http'))).toEqual({ status: 200, body: '' });
  await ask(home, '/drain', {});
  expect(log.events).toMatchObject([
    { text_redacted: 'over http', transport: 'http', harness: 'claude-code' },
  ]);
});

test('a session that FLIPSTREAM_OFF silences leaves nothing, and no loss; an unset variable comes as an empty header', async () => {
  await start();
  const said = ['1', 'yes', '', '0'];
  for (const off of said)
    expect(await post(payload(`off ${off}`), { 'x-flipstream-off': off })).toEqual({ status: 200, body: '' });
  await ask(home, '/drain', {});
  expect(log.events.map((event) => event.session_id)).toEqual(['off ', 'off 0']);
  expect(readLosses(home).count).toBe(0);
});

describe('requests that are refused', () => {
  let server: Server;
  let refused = { ...NO_REFUSALS };
  const kept: string[] = [];
  beforeAll(async () => {
    const listening = await listenOnLoopback({
      ...{ port: 0, token: TOKEN, limit: 100, warn: () => {} },
      accept: async (payload) => void kept.push(String(payload)),
      tooLarge: () => kept.push('counted'),
      onRefusal: (now) => {
        refused = { ...now };
      },
    });
    server = listening.server;
    port = listening.port;
  });
  afterAll(() => void server.close());

  test.each([
    ['another token', { authorization: 'Bearer other' }, undefined, 401, 'token'],
    ['no token', { authorization: '' }, undefined, 401, 'token'],
    ['another Host', { host: 'evil.example' }, undefined, 421, 'host'],
    ['localhost as Host', { host: 'localhost' }, undefined, 421, 'host'],
    ['an Origin', { origin: 'http://127.0.0.1' }, undefined, 403, 'origin'],
    ['another path', {}, '/other', 404, 'path'],
    ['an odd registration', {}, '/hook?registration=../x', 400, 'path'],
  ] as const)('%s: counted, and nothing is kept', async (_, headers, path, status, why) => {
    const before = refused[why];
    expect(await post('{}', headers, path)).toEqual({ status, body: '' });
    expect(refused[why]).toBe(before + 1);
    expect(kept).toEqual([]);
  });

  test('a machine without a descriptor for another connection ends nothing', () => {
    for (const code of ['EMFILE', 'EMFILE', 'ENFILE']) server.emit('error', new Error(code));
  });

  test('a body over the limit, announced or not, is counted as lost', async () => {
    const large = 'x'.repeat(101);
    expect(await post(large)).toEqual({ status: 413, body: '' });
    expect(await post(large, { 'transfer-encoding': 'chunked' })).toEqual({ status: 413, body: '' });
    expect(refused.too_large).toBe(2);
    expect(kept).toEqual(['counted', 'counted']);
    expect(await post('x'.repeat(100))).toEqual({ status: 200, body: '' });
  });
});

test('a body that comes in many pieces is read whole', async () => {
  await start();
  const prompt = '\u00e9'.repeat(500_000);
  expect(await post(payload('s1', prompt))).toMatchObject({ status: 200 });
  await ask(home, '/drain', {});
  expect(log.events.at(-1)).toMatchObject({ type: 'message', text_bytes: 1_000_000 });
});

test('what is no JSON is kept too, and the harness sees nothing of it', async () => {
  await start();
  expect(await post('{"session_id": "s1", "hook_ev')).toEqual({ status: 200, body: '' });
  await ask(home, '/drain', {});
  expect(log.events).toMatchObject([{ type: 'notice', kind: 'unparseable' }]);
});

test('an outage is a gap in the sessions that were open over HTTP, and in those that began meanwhile', async () => {
  await start();
  await post(payload('open'));
  spool(home, entry(told.prompt('x'), { session_id: 'commands' }));
  await ask(home, '/drain', {});
  await collector?.stop();
  const at = Date.now() - T0;
  spool(home, entry(told.start({}), { session_id: 'meanwhile', at }));
  spool(home, entry(told.start({}), { session_id: 'meanwhile', at, registration: 'plugin' }));
  await start(() => Date.now() + 1_000);
  spool(home, entry(told.start({}), { session_id: 'later', at: at + 3_600_000 }));
  await ask(home, '/drain', {});
  const gaps = log.events.filter((event) => event.kind === 'gap').map((event) => event.session_id);
  expect(gaps).toEqual(['open', 'meanwhile']);
});
