/**
 * Import rate by format: the real files, their steps repeated until one file has the size, imported into a log of its
 * own; MiB/s and events/s, also by processor time alone, since no machine is quiet, and resident memory along the way.
 * `node bench/import.ts [MiB]`, default 1024.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import { layout } from '../producers/home.ts';
import { importPaths } from '../producers/import/import.ts';

const DATA = new URL('../../shared/data/trajectories', import.meta.url).pathname;
const MIB = 2 ** 20;
/** By which Claude Code's sessions and what is in them are told apart; a document is one session. */
const IDS = /"(sessionId|agentId|uuid|parentUuid|id|tool_use_id)":"/g;
const size = Number(process.argv[2] ?? 1024) * MIB;
const only = process.argv[3];

if (!existsSync(DATA))
  console.log('no real trajectories here: ../shared/data is beside the repository in CI only');
else if (only !== undefined) await measure(only);
else
  for (const format of ['claude-code', 'swe-agent', 'swe-smith', 'mini-swe-agent'])
    spawnSync(process.execPath, [new URL(import.meta.url).pathname, String(size / MIB), format], {
      stdio: 'inherit',
    });

async function measure(format: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'flipstream-bench-'));
  const path = join(dir, 'trajectory');
  write(path, format);
  const home = layout(join(dir, 'home'));
  const log = await openEmbeddedLog({ dir: home.log, maintainEveryMs: null });
  const memory: number[] = [];
  const timer = setInterval(() => memory.push(process.memoryUsage.rss() / MIB), 500);
  const started = performance.now();
  const before = process.cpuUsage();
  const report = await importPaths({
    paths: [path],
    home,
    log,
    clock: Date.now,
    limit: MIB,
    warn: console.warn,
  });
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  const worked = (user + system) / 1e6;
  clearInterval(timer);
  const counts = Object.values(report.formats)[0];
  const at = (share: number) => Math.round(memory[Math.floor((memory.length - 1) * share)] ?? 0);
  const mib = size / MIB;
  const events = counts?.events ?? 0;
  console.log(
    `${format}, ${mib} MiB: ${(mib / seconds).toFixed(1)} MiB/s, ${Math.round(events / seconds)} events/s (${events} events, ${Math.round(seconds)} s, ${counts?.refused} refused); by processor time ${(mib / worked).toFixed(1)} MiB/s, ${Math.round(events / worked)} events/s; resident ${at(0.25)}, ${at(0.5)}, ${at(0.75)}, most ${Math.round(Math.max(...memory))} MiB`,
  );
  await log.close();
  rmSync(dir, { recursive: true, force: true });
}

/** One file of the size: every record a real one, told apart by what makes records one. */
function write(path: string, format: string): void {
  const file = openSync(path, 'w');
  let written = 0;
  const put = (text: string) => {
    written += writeSync(file, text);
  };
  const files = readdirSync(join(DATA, format)).filter((name) => !name.endsWith('.report.json'));
  const texts = files.map((name) => readFileSync(join(DATA, format, name), 'utf8'));
  if (format === 'claude-code') {
    for (let round = 0; written < size; round++)
      for (const text of texts) put(text.replaceAll(IDS, `"$1":"${round}-`));
  } else {
    const array = format === 'mini-swe-agent' ? null : 'trajectory';
    put(array === null ? '[' : `{"environment":"bench","${array}":[`);
    for (let round = 0; written < size; round++)
      for (const text of texts) {
        const document: { trajectory?: unknown[] } | unknown[] = JSON.parse(text);
        const steps = Array.isArray(document) ? document : (document.trajectory ?? []);
        const begun = round > 0 || text !== texts[0];
        put(`${begun ? ',' : ''}${steps.map((step) => JSON.stringify(step)).join(',')}`);
      }
    put(array === null ? ']' : '],"history":[],"info":{}}');
  }
  closeSync(file);
}
