/**
 * The log on a real broker (a small JVM on this machine, started here), events of about 1.5 KB, zstd, four
 * partitions: topic to Delta beside raw consumption, redact and join, verdict to flip, the cost of transactions.
 * `node bench/kafka.ts [events]`, default 500,000; 2,000,000 shows whether memory stays flat.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createJoin } from '../streams/join/join.ts';
import { createTestOracle } from '../streams/testing/oracle.ts';
import { recordsOf } from '../streams/testing/run.ts';
import { gradedSession } from '../streams/testing/session.ts';
import { noKafka, startKafka } from '../tests/support/kafka-broker.ts';
import { kafkaRig } from '../tests/support/kafka-rig.ts';

const EVENTS = Number(process.argv[2] ?? 500_000);
const SESSIONS = 200;
const GROUPS = ['redact', 'join', 'count'];
const PART = fileURLToPath(new URL('./support/kafka-part.ts', import.meta.url));

const reason = await noKafka();
if (reason !== null) {
  console.log(`skipped: ${reason}`);
  process.exit(0);
}
const cluster = await startKafka();
const folder = mkdtempSync(join(tmpdir(), 'flipstream-bench-'));
let rig = await kafkaRig(cluster, { groups: GROUPS });

async function part(name: string, events = EVENTS, processes = 1): Promise<void> {
  const args = [PART, name, String(events), cluster.adminBrokers.join(','), rig.registry.url, folder];
  const children = Array.from({ length: processes }, () =>
    spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] }),
  );
  await Promise.all(children.map((child) => once(child, 'exit')));
}

async function fresh(): Promise<void> {
  await rig.close();
  rig = await kafkaRig(cluster, { groups: GROUPS });
}

try {
  await part('fill trace.events');
  await part('raw');
  await part('sink');
  await part('raw');
  for (const processes of [1, 2]) {
    await fresh();
    console.log(`-- ${processes} process${processes > 1 ? 'es' : ''}`);
    const some = Math.round(EVENTS / 10);
    await part('fill trace.raw', some);
    await part('reduce', some, processes);
    await part('fill trace.events', some);
    await part('join', some, processes);
  }
  await fresh();
  await part('plain', 100_000);
  await part('transactions', 100_000);
  await fresh();
  await verdictToFlip();
} finally {
  await rig.close();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** From the publishing of a signed verdict to the flip at a read-committed consumer, in a steady state. */
async function verdictToFlip(): Promise<void> {
  const oracle = createTestOracle();
  const log = await rig.open();
  const joining = (await rig.open()).run(createJoin({ keyRing: oracle.ring }));
  const waiting = new Map<string, () => void>();
  const watching = (await rig.open()).consume({
    group: 'watch',
    topics: ['flips'],
    onBatch: async ({ records }) => {
      for (const { value } of records) waiting.get(value.session_id)?.();
    },
  });
  const took: number[] = [];
  for (let n = 0; n < SESSIONS; n++) {
    const sessionId = `session-${n}`;
    const session = recordsOf(gradedSession({ oracle, sessionId, answers: ['PASS'] }));
    const verdict = session.pop();
    if (!verdict) throw new Error('no verdict');
    await log.publish(session);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const flipped = new Promise<void>((resolve) => waiting.set(sessionId, resolve));
    const from = performance.now();
    await log.publish([verdict]);
    await flipped;
    if (n >= SESSIONS / 10) took.push(performance.now() - from);
  }
  took.sort((a, b) => a - b);
  const at = (q: number) => took[Math.floor((took.length - 1) * q)]?.toFixed(0);
  console.log(
    `verdict published to flip at a read-committed consumer: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${took.length} sessions)`,
  );
  await Promise.all([joining.stop(), watching.stop()]);
}
