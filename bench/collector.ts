/**
 * The collector: what a hook over HTTP adds to each event (the answer comes when it is durable), alone and with
 * 32 at once, and how fast a full spool drains into the embedded log.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import { capture } from '../producers/capture.ts';
import { startCollector } from '../producers/collector/collector.ts';
import { layout } from '../producers/home.ts';
import { loadHashKey } from '../producers/identity-files.ts';
import { openKeysIn } from '../producers/spool/pieces.ts';
import { prepareSpool } from '../producers/spool/prepare.ts';
import { putEntry } from '../producers/spool/put.ts';
import { keyedHash } from '../schemas/hash.ts';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 20_000);
const CALLS = Number(process.env.BENCH_CALLS ?? 2_000);
const TOKEN = 'bench';

const [mode, root = mkdtempSync(join(tmpdir(), 'fs-bench-'))] = process.argv.slice(2);
const home = layout(root);
if (mode === 'serve') await serve();
else {
  try {
    await drain();
    put();
    await overHttp(1);
    await overHttp(32);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The collector in a process of its own, as it is for a harness; says its port. */
async function serve(): Promise<void> {
  const log = await openEmbeddedLog({ dir: home.log });
  const settings = { v: 1 as const, http: { port: 0, token: TOKEN } };
  const collector = await startCollector({ home, log, clock: Date.now, settings, warn: () => {} });
  process.once('SIGTERM', () => void collector.stop().then(() => log.close()));
  process.stdout.write(`${collector.port}\n`);
}

async function start(): Promise<{ port: number; stop: () => Promise<void> }> {
  const script = new URL(import.meta.url).pathname;
  const child = spawn(process.execPath, [script, 'serve', root], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  const stop = async () => {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  };
  return { port: Number(String(line)), stop };
}

/** The same entry put into the spool with nothing around it: what this disk takes. */
function put(): void {
  const times: number[] = [];
  const key = loadHashKey(home);
  const hash = (data: string | Uint8Array) => keyedHash(key, data);
  for (let index = 0; index < CALLS; index++) {
    const began = performance.now();
    const entry = entryOf(index, 5000, hash);
    if (entry) putEntry(home, entry, Date.now());
    times.push(performance.now() - began);
  }
  report('capture and put, nothing around it', times);
}

function entryOf(index: number, session: number, hash: (data: string | Uint8Array) => string) {
  return capture(payload(index, session), {
    ...{ hash, limit: 65_536, clock: Date.now, registration: 'settings', transport: 'command' },
    ...{ openKeys: openKeysIn(home, hash), readRules: () => null, silenced: () => false },
  });
}

function report(what: string, times: number[]): void {
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(2);
  console.log(`${what}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms an event, durable`);
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
    const entry = entryOf(index, Math.floor(index / 2) % 50, hash);
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
      await post(collector.port, agent, payload(index, 1000 + atOnce));
      times.push(performance.now() - began);
    }
  };
  for (let index = 0; index < 100; index++) await post(collector.port, agent, payload(index, 999));
  await Promise.all(Array.from({ length: atOnce }, worker));
  report(`http, ${atOnce} at once`, times);
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
