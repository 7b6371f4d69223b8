/** Kills and stops workers, and a broker where there are three, while records are published; then everything is counted. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { counts, event, everything } from '../../log/conformance/rig.ts';
import type { KafkaLog } from '../../log/kafka/open.ts';
import type { Outgoing } from '../../log/log.ts';
import { retryAfter } from '../../log/running.ts';
import type { KafkaCluster } from './kafka-broker.ts';
import { countBoth } from './kafka-chaos-reducer.ts';
import type { KafkaRig } from './kafka-rig.ts';

export interface ChaosOptions {
  variant: 'ours' | 'random' | 'per-topic';
  events: number;
  kills: number;
  stops: number;
  /** Of each stop, milliseconds; longer than the session timeout. */
  stopMs: number;
  sessionMs: number;
  /** Kill a broker in the middle, and start it again. */
  broker: boolean;
}

export interface ChaosResult {
  /** What does not add up, one line each; empty when every record counts once. */
  wrong: string[];
  events: number;
  /** Records that a repetition of the publisher has put into the log twice; each counts. */
  repeated: number;
  seconds: number;
}

const KEYS = 60;
const WORKERS = 3;
const PATIENCE_MS = 180_000;
const WORKER = fileURLToPath(new URL('./kafka-chaos-worker.ts', import.meta.url));

export async function chaos(
  rig: KafkaRig,
  cluster: KafkaCluster,
  options: ChaosOptions,
): Promise<ChaosResult> {
  const began = performance.now();
  const log = await rig.open();
  const startOne = async (): Promise<ChildProcess> => {
    const { variant, sessionMs } = options;
    const args = [WORKER, variant, String(sessionMs), rig.registry.url, cluster.adminBrokers.join(',')];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    return child;
  };
  const workers = await Promise.all(Array.from({ length: WORKERS }, startOne));
  let counted = false;
  try {
    await Promise.all([
      publishAll(log, options.events, workers),
      disturb(workers, startOne, cluster, options),
    ]);
    counted = await allCounted(log);
  } finally {
    await Promise.all(workers.map(end));
  }
  const { wrong, repeated } = await judge(log, options.events);
  if (!counted) wrong.push(`not everything was counted ${PATIENCE_MS / 1000} s after the last disturbance`);
  return { wrong, repeated, events: options.events, seconds: Math.round((performance.now() - began) / 1000) };
}

/** Asks seldom: the workers need the machine. */
async function allCounted(log: KafkaLog): Promise<boolean> {
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await sleep(500)) {
    const ends = new Map<string, number>();
    for (const topic of countBoth.inputs)
      for (let p = 0; p < (await log.partitions(topic)); p++)
        ends.set(`${topic}/${p}`, (await log.read(topic, p, 0, 1)).end);
    const lag = (await log.lag()).filter(({ group }) => group === countBoth.group);
    const committed = new Map(lag.map((one) => [`${one.topic}/${one.partition}`, one.committed]));
    if ([...ends].every(([place, at]) => (committed.get(place) ?? 0) >= at)) return true;
  }
  return false;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Event n has key n modulo KEYS and goes to one of both topics. Slow enough to be there all the while. */
async function publishAll(log: KafkaLog, events: number, workers: readonly ChildProcess[]): Promise<void> {
  const STEP = 100;
  for (let first = 0; first < events; first += STEP) {
    const batch = Array.from({ length: Math.min(STEP, events - first) }, (_, n) => outgoing(first + n));
    for (let failures = 1; ; failures++) {
      try {
        await log.publish(batch);
        break;
      } catch (error) {
        if (failures > 20) throw error;
        await sleep(retryAfter(failures));
      }
    }
    await sleep(workers.length * 20);
  }
}

function outgoing(n: number): Outgoing {
  const made = event(`key-${n % KEYS}`, n);
  return Math.floor(n / KEYS) % 2 === 0 ? made : { ...made, topic: 'trace.events' };
}

async function disturb(
  workers: ChildProcess[],
  startOne: () => Promise<ChildProcess>,
  cluster: KafkaCluster,
  { kills, stops, stopMs, broker }: ChaosOptions,
): Promise<void> {
  const acts = kills + stops;
  let brokerBack: Promise<void> | null = null;
  for (let n = 0; n < acts; n++) {
    await sleep(Math.random() * 400);
    const index = Math.floor(Math.random() * workers.length);
    const worker = workers[index];
    if (!worker) continue;
    if (Math.floor(((n + 1) * stops) / acts) > Math.floor((n * stops) / acts)) {
      worker.kill('SIGSTOP');
      await sleep(stopMs);
      worker.kill('SIGCONT');
    } else {
      await end(worker);
      workers[index] = await startOne();
    }
    if (broker && n === Math.floor(acts / 3)) brokerBack = restart(cluster);
  }
  await brokerBack;
}

async function restart(cluster: KafkaCluster): Promise<void> {
  const node = cluster.nodes[Math.floor(Math.random() * cluster.nodes.length)];
  await node?.kill();
  await sleep(3_000);
  await node?.start();
}

/** By key, the running counts that were put out must be 1 to the number of records in the log, each once. */
async function judge(log: KafkaLog, events: number): Promise<{ wrong: string[]; repeated: number }> {
  const wrong: string[] = [];
  const there = new Map<string, number>();
  const numbers = new Set<number>();
  let total = 0;
  for (const topic of ['trace.raw', 'trace.events'] as const) {
    for (const { key, value } of await everything(log, topic)) {
      there.set(key, (there.get(key) ?? 0) + 1);
      numbers.add(value.seq);
      total++;
    }
  }
  if (numbers.size !== events) wrong.push(`${events - numbers.size} events are not in the log`);
  const counted = await counts(log);
  for (const [key, records] of there) {
    const got = counted[key] ?? [];
    const missing = Array.from({ length: records }, (_, n) => n + 1).filter((n) => !got.includes(n));
    const twice = got.length - new Set(got).size;
    if (missing.length > 0 || twice > 0 || got.length !== records)
      wrong.push(
        `${key}: ${records} records, ${got.length} counts, ${missing.length} missing, ${twice} twice`,
      );
  }
  const letters = await everything(log, 'deadletter');
  if (letters.length > 0) wrong.push(`${letters.length} dead letters`);
  return { wrong, repeated: total - numbers.size };
}
