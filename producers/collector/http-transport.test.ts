import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Home } from '../home.ts';
import { type Collector, startCollector } from './collector.ts';
import { ask, entry, type MemoryLog, memoryLog, spool, T0, temporaryHome, told } from './testing.ts';

let home: Home;
let remove: () => void;
let log: MemoryLog;
let collector: Collector | undefined;
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

async function start(): Promise<void> {
  const settings = { v: 1 as const, http: { port: 0, token: TOKEN } };
  collector = await startCollector({
    home,
    log,
    clock: Date.now,
    settings,
    warn: () => {},
    tune: { restMs: 1 },
  });
}

function post(body: string, headers: Record<string, string> = {}, path = '/hook?registration=http') {
  const port = collector?.port ?? 0;
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

test.each([
  ['another token', { authorization: 'Bearer other' }, undefined, 401, 'token'],
  ['no token', { authorization: '' }, undefined, 401, 'token'],
  ['another Host', { host: 'evil.example' }, undefined, 421, 'host'],
  ['localhost as Host', { host: 'localhost' }, undefined, 421, 'host'],
  ['an Origin', { origin: 'http://127.0.0.1' }, undefined, 403, 'origin'],
  ['another path', {}, '/other', 404, 'path'],
  ['an odd registration', {}, '/hook?registration=../x', 400, 'path'],
  [
    'a body that is announced too large',
    { 'content-length': String(65 * 2 ** 20) },
    undefined,
    413,
    'too_large',
  ],
])('%s is refused, counted and nothing is kept', async (_, headers, path, status, why) => {
  await start();
  const answer = post(payload('s1'), headers, path).catch(() => ({ status: 413, body: '' }));
  expect(await answer).toEqual({ status, body: '' });
  expect(await ask(home, '/status')).toMatchObject({ http: { refused: { [why]: 1 } } });
  expect(log.events).toEqual([]);
  expect(readdirSync(join(home.spool, 'new'))).toEqual([]);
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
  await new Promise((resolve) => setTimeout(resolve, 2));
  await start();
  spool(home, entry(told.start({}), { session_id: 'later', at: at + 3_600_000 }));
  await ask(home, '/drain', {});
  const gaps = log.events.filter((event) => event.kind === 'gap').map((event) => event.session_id);
  expect(gaps).toEqual(['open', 'meanwhile']);
});

test('the token is nowhere but in the settings', async () => {
  await start();
  await post(payload('s1'));
  await ask(home, '/drain', {});
  const everything = JSON.stringify([log.events, await ask(home, '/status')]);
  expect(everything).not.toContain(TOKEN);
  for (const name of readdirSync(home.traces))
    expect(readFileSync(join(home.traces, name), 'utf8')).not.toContain(TOKEN);
});
