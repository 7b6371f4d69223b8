/**
 * What one event of each harness costs, beside Claude Code's: the hook's whole process, all harnesses in turn so that
 * whatever else the machine does falls on all of them; and the part of it that differs, from bytes to a spool entry, in one
 * warm process. `node bench/adapters.ts [runs]`
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hookArguments } from '../cli/init/registration.ts';
import { ADAPTERS } from '../producers/adapters/choose.ts';
import { payloadsOf } from '../producers/adapters/sample-payloads.ts';
import { type CaptureContext, captureHeard, hear } from '../producers/capture.ts';
import { keyedHash } from '../schemas/hash.ts';

const HOOK = fileURLToPath(new URL('../plugin/dist/hook.cjs', import.meta.url));
const RUNS = Number(process.argv[2] ?? 60);
const WARM_RUNS = 2_000;
const root = mkdtempSync(join(tmpdir(), 'flipstream-bench-'));
const home = join(root, 'home');
mkdirSync(home);
const env = { PATH: process.env.PATH, HOME: root, FLIPSTREAM_HOME: home };

/** The end of a tool call, as recorded; its result is what most of them differ in, so all get the same. */
const ENDS = /PostToolUse|postToolUse|AfterTool|tool\.execute\.after/;
function toolEnd(harness: string): Buffer {
  const lines = payloadsOf(harness).map((payload) => JSON.stringify(payload));
  const line =
    lines.find((one) => ENDS.test(one.slice(0, 600)) && one.includes('npm test')) ??
    lines.find((one) => ENDS.test(one));
  return Buffer.from(line ?? '{}');
}

function once(input: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(process.execPath, hookArguments(HOOK, 'settings'), {
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('error', reject);
    child.on('close', () => resolve(performance.now() - started));
  });
}

const key = Buffer.alloc(32);
const context: CaptureContext = {
  hash: (data) => keyedHash(key, data),
  limit: 65_536,
  clock: Date.now,
  registration: 'settings',
  transport: 'command',
  openKeys: { isOpen: () => false, set: () => {} },
  readRules: () => null,
  silenced: () => false,
};

/** Microseconds for one payload in a warm process. */
function warm(input: Buffer): number {
  const started = performance.now();
  for (let run = 0; run < WARM_RUNS; run++) captureHeard(hear(input), context);
  return ((performance.now() - started) / WARM_RUNS) * 1000;
}

const cases = ADAPTERS.map(({ harness }) => ({ harness, input: toolEnd(harness), times: [] as number[] }));
for (const { input } of cases) await once(input);
for (let run = 0; run < RUNS; run++) for (const each of cases) each.times.push(await once(each.input));

const at = (times: readonly number[], part: number) =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
const base = at(cases[0]?.times ?? [], 0.5);
console.log(`hook: ${statSync(HOOK).size} bytes; end of a tool call, ${RUNS} runs each, in turn`);
for (const { harness, input, times } of cases) {
  const p50 = at(times, 0.5);
  const beside = `${p50 >= base ? '+' : ''}${(p50 - base).toFixed(1)}`;
  console.log(
    `${harness}: p50 ${p50.toFixed(1)} ms (${beside} beside claude-code), p95 ${at(times, 0.95).toFixed(1)} ms; adapter and redaction ${warm(input).toFixed(0)} us`,
  );
}
rmSync(root, { recursive: true, force: true });
