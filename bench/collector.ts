/**
 * The collector: what a hook over HTTP adds to each event (the answer comes when it is durable), alone and with
 * 32 at once, and how fast a full spool drains into the embedded log.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import { capture } from '../producers/capture.ts';
import { type Collector, startCollector } from '../producers/collector/collector.ts';
import { layout } from '../producers/home.ts';
import { loadHashKey } from '../producers/identity-files.ts';
import { openKeysIn } from '../producers/spool/pieces.ts';
import { prepareSpool } from '../producers/spool/prepare.ts';
import { keyedHash } from '../schemas/hash.ts';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 20_000);
const CALLS = Number(process.env.BENCH_CALLS ?? 2_000);
const TOKEN = 'bench';

const home = layout(mkdtempSync(join(tmpdir(), 'fs-bench-')));
const log = await openEmbeddedLog({ dir: home.log });
try {
  await drain();
  await overHttp(1);
  await overHttp(32);
} finally {
  await log.close();
  rmSync(home.root, { recursive: true, force: true });
}

function start(): Promise<Collector> {
  const settings = { v: 1 as const, http: { port: 0, token: TOKEN } };
  return startCollector({ home, log, clock: Date.now, settings, warn: () => {} });
}

/** A call of about 1.5 KB, and what the model saw of it. */
function payload(index: number, session: number): string {
  const call = Math.floor(index / 2);
  const one = {
    tool_name: 'Bash',
    tool_use_id: `toolu_${call}`,
    tool_input: { command: 'npm test -- --run' },
  };
  const output = 'PASS src/lib/some-file.test.ts (12 tests)\n'.repeat(25);
  const base = { session_id: `session-${session}`, cwd: '/repo' };
  return JSON.stringify(
    index % 2 === 0
      ? { ...base, ...one, hook_event_name: 'PostToolUse', tool_response: { stdout: output, stderr: '' } }
      : { ...base, hook_event_name: 'PostToolBatch', tool_calls: [{ ...one, tool_response: output }] },
  );
}

async function drain(): Promise<void> {
  prepareSpool(home);
  const key = loadHashKey(home);
  const hash = (data: string | Uint8Array) => keyedHash(key, data);
  const start0 = Date.now() * 1000;
  for (let index = 0; index < EVENTS; index++) {
    const entry = capture(payload(index, Math.floor(index / 2) % 50), {
      ...{ hash, limit: 65_536, clock: Date.now, registration: 'settings', transport: 'command' },
      ...{ openKeys: openKeysIn(home, hash), readRules: () => null, silenced: () => false },
    });
    writeFileSync(join(home.spool, 'new', `${start0 + index}-1-0000.json`), JSON.stringify(entry));
  }
  const began = performance.now();
  const collector = await start();
  await ask('/drain', { deadline_ms: 600_000 });
  const seconds = (performance.now() - began) / 1000;
  await collector.stop();
  console.log(
    `drain: ${EVENTS} spool entries in ${seconds.toFixed(1)} s, ${Math.round(EVENTS / seconds)} a second`,
  );
}

async function overHttp(atOnce: number): Promise<void> {
  const collector = await start();
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const times: number[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < CALLS; index = next++) {
      const began = performance.now();
      await post(collector.port ?? 0, agent, payload(index, 1000 + atOnce));
      times.push(performance.now() - began);
    }
  };
  for (let index = 0; index < 100; index++) await post(collector.port ?? 0, agent, payload(index, 999));
  await Promise.all(Array.from({ length: atOnce }, worker));
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(2);
  console.log(`http, ${atOnce} at once: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms an event, durable`);
  agent.destroy();
  await collector.stop();
}

function post(port: number, agent: Agent, body: string): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-length': Buffer.byteLength(body) };
  const to = { host: '127.0.0.1', port, path: '/hook?registration=http', method: 'POST', headers, agent };
  return send(to, body);
}

function ask(path: string, body: object): Promise<void> {
  return send({ socketPath: home.collectorSocket, path, method: 'POST', agent: false }, JSON.stringify(body));
}

function send(to: object, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(to, (response) => {
      response.resume();
      const ok = response.statusCode === 200;
      response.on('end', () => (ok ? resolve() : reject(new Error(`status ${response.statusCode}`))));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
