/**
 * The log on a real broker (a small JVM on this machine, started here) beside the embedded one, events of about
 * 1.5 KB, zstd, four partitions: topic to Delta beside raw consumption, redact and join, verdict to flip, the cost
 * of transactions. `node bench/kafka.ts [events]`, default 500,000; 2,000,000 shows whether memory stays flat.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { noKafka, startKafka } from '../tests/support/kafka-broker.ts';
import { type KafkaRig, kafkaRig } from '../tests/support/kafka-rig.ts';

const EVENTS = Number(process.argv[2] ?? 500_000);
const SESSIONS = 100;
const GROUPS = ['redact', 'join'];
const PART = fileURLToPath(new URL('./support/kafka-part.ts', import.meta.url));

/** Where a part runs: in folders of its own, on a cluster or in a file. */
interface Place {
  folder: string;
  cluster: string[];
}

type Figures = Map<string, string>;

const reason = await noKafka();
if (reason !== null) {
  console.log(`skipped: ${reason}`);
  process.exit(0);
}
const root = mkdtempSync(join(tmpdir(), 'flipstream-bench-'));
const cluster = await startKafka();
/** The newest is the one in use. */
const rigs: KafkaRig[] = [];
let folders = 0;

/** Topics and tables that hold nothing yet. */
async function onKafka(): Promise<Place> {
  await rigs.pop()?.close();
  const rig = await kafkaRig(cluster, { groups: GROUPS });
  rigs.push(rig);
  return { ...embedded(), cluster: [cluster.adminBrokers.join(','), rig.registry.url] };
}

function embedded(): Place {
  return { folder: join(root, String(folders++)), cluster: [] };
}

/** @param suffix of the figures' names. */
async function part(into: Figures, place: Place, name: string, events: number, processes = 1, suffix = '') {
  const args = [PART, name, String(events), place.folder, ...place.cluster];
  await Promise.all(
    Array.from({ length: processes }, async () => {
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      for await (const line of createInterface({ input: child.stdout })) {
        const [, title, value] = /^= ([^\t]*)\t(.*)$/.exec(line) ?? [];
        if (title !== undefined && value !== undefined) into.set(`${title}${suffix}`, value);
        console.error(line);
      }
      const [code] = await ended;
      if (code !== 0) throw new Error(`${name} ended with ${code}`);
    }),
  );
}

async function measure(fresh: () => Promise<Place> | Place, isKafka: boolean): Promise<Figures> {
  const figures: Figures = new Map();
  const first = await fresh();
  await part(figures, first, 'fill trace.events', EVENTS);
  await part(figures, first, 'raw', EVENTS);
  await part(figures, first, 'sink', EVENTS);
  await part(figures, first, 'raw', EVENTS, 1, ', once more');
  if (isKafka) await part(figures, first, 'raw, as anyone', EVENTS);
  const some = Math.round(EVENTS / 10);
  for (const processes of [1, 2]) {
    const suffix = `, ${processes} process${processes > 1 ? 'es' : ''}`;
    const unused: Figures = new Map();
    const place = await fresh();
    await part(unused, place, 'fill trace.raw', some);
    await part(figures, place, 'redact', some, processes, suffix);
    // Of what redact has put out.
    await part(figures, place, 'join', some, processes, suffix);
  }
  if (isKafka) {
    const place = await fresh();
    await part(figures, place, 'plain', 100_000);
    await part(figures, place, 'transactions', 100_000);
  }
  await part(figures, await fresh(), 'flips', SESSIONS);
  return figures;
}

try {
  const kafka = await measure(onKafka, true);
  const file = await measure(embedded, false);
  const names = [...new Set([...kafka.keys(), ...file.keys()])];
  console.log(`${EVENTS} events; a tenth of them for redact and join\n`);
  for (const [name, a, b] of [
    ['', 'Kafka', 'embedded'],
    ...names.map((name) => [name, kafka.get(name) ?? '-', file.get(name) ?? '-']),
  ])
    console.log([name?.padEnd(54), a?.padEnd(26), b].join(' '));
} finally {
  await rigs.pop()?.close();
  await cluster.stop();
  rmSync(root, { recursive: true, force: true });
}
