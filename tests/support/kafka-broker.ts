/**
 * Real Kafka brokers for tests: those that FLIPSTREAM_TEST_KAFKA names, else containers where a Docker engine
 * has the image, else the broker's jars from Maven, started here. On loopback, on free ports; they end with us.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel, type SASLOptions } from 'kafkajs';
import { freePort } from '../../cli/init/prepare.ts';
import { createClient } from '../../log/kafka/client.ts';
import { findMeans, type Means } from './kafka-broker-means.ts';
import { type BrokerProcess, startBroker } from './kafka-broker-process.ts';
import { serverProperties } from './kafka-broker-settings.ts';
import { sweep } from './kafka-sweep.ts';

/** One broker that can be taken down and brought back. Its data stays. */
export interface KafkaNode {
  id: number;
  address: string;
  /** As a power cut. */
  kill(): Promise<void>;
  /** After `kill`; resolves when the port answers. */
  start(): Promise<void>;
  suspend(): void;
  resume(): void;
}

export interface KafkaCluster {
  /** `host:port` of the client listener of each broker. */
  brokers: string[];
  /** Where nobody needs to log in and everybody is a superuser; the same as `brokers` without `scram`. */
  adminBrokers: string[];
  /** None when FLIPSTREAM_TEST_KAFKA named the brokers: they are not ours to kill. */
  nodes: KafkaNode[];
  stop(): Promise<void>;
}

export interface KafkaClusterOptions {
  count?: 1 | 3;
  /** Users and their passwords: the client listener then wants SCRAM-SHA-512, and an authorizer refuses what no ACL allows. */
  scram?: Readonly<Record<string, string>>;
  /** More broker settings. */
  settings?: Readonly<Record<string, string>>;
}

/** @returns why the broker tests are skipped here, or null. @throws where none may be skipped (CI). */
export async function noKafka(): Promise<string | null> {
  const means = await findMeans();
  if (means.kind !== 'none') return null;
  if (process.env.CI) throw new Error(`CI may not skip this: ${means.reason}`);
  return means.reason;
}

/** Starts a cluster and resolves when it can be used. On brokers that were named, what is there of ours is deleted. */
export async function startKafka(options: KafkaClusterOptions = {}): Promise<KafkaCluster> {
  const means = await findMeans();
  if (means.kind === 'none') throw new Error(means.reason);
  if (means.kind === 'given') {
    const { brokers } = means;
    const admin = createClient({ brokers, tls: false }).admin();
    await admin.connect();
    await sweep(admin);
    await admin.disconnect();
    return { brokers, adminBrokers: brokers, nodes: [], stop: async () => {} };
  }
  return startOwn(means, options);
}

/** Kafka's form of a UUID, 22 characters of base64url; never with a dash in front, which its tools take for an option. */
function randomClusterId(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
  return bytes.toString('base64url');
}

async function startOwn(
  means: Extract<Means, { kind: 'jars' | 'docker' }>,
  options: KafkaClusterOptions,
): Promise<KafkaCluster> {
  const { count = 1, scram = {}, settings = {} } = options;
  const root = mkdtempSync(join(tmpdir(), 'flipstream-kafka-'));
  const clusterId = randomClusterId();
  const places = await Promise.all(
    Array.from({ length: count }, async (_, index) => ({
      id: index + 1,
      port: await freePort(),
      internalPort: await freePort(),
      controllerPort: await freePort(),
    })),
  );
  const nodes = await Promise.all(
    places.map(async (place): Promise<KafkaNode & { end(): Promise<void> }> => {
      const config = join(root, `broker-${place.id}.properties`);
      const data = join(root, `data-${place.id}`);
      const secured = Object.keys(scram).length > 0;
      writeFileSync(config, serverProperties({ place, places, data, secured, settings }));
      const start = () => startBroker(means, { config, data, root, clusterId, scram, id: place.id });
      let running: BrokerProcess | null = await start();
      return {
        id: place.id,
        address: `127.0.0.1:${place.port}`,
        async kill() {
          await running?.kill();
          running = null;
        },
        async start() {
          running = await start();
          await answers([`127.0.0.1:${place.internalPort}`], count);
        },
        suspend: () => running?.signal('SIGSTOP'),
        resume: () => running?.signal('SIGCONT'),
        end: async () => running?.kill(),
      };
    }),
  );
  const adminBrokers = places.map(({ internalPort }) => `127.0.0.1:${internalPort}`);
  const cluster: KafkaCluster = {
    brokers: nodes.map((node) => node.address),
    adminBrokers,
    nodes,
    stop: async () => {
      await Promise.all(nodes.map((node) => node.end()));
      rmSync(root, { recursive: true, force: true });
    },
  };
  try {
    await answers(adminBrokers, count);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

const PATIENCE_MS = 120_000;

/** Resolves when a controller leads and every broker has joined. */
async function answers(brokers: readonly string[], count: number): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; ; await sleep(50)) {
    const admin = clientOf(brokers).admin({ retry: { retries: 0 } });
    try {
      await admin.connect();
      const { brokers: up, controller } = await admin.describeCluster();
      if (controller !== null && controller >= 0 && up.length >= count) return;
    } catch (error) {
      if (performance.now() > until) throw error;
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
    if (performance.now() > until)
      throw new Error(`${brokers.join(', ')}: the brokers did not find together`);
  }
}

/** A quiet client for tests. */
export function clientOf(brokers: readonly string[], sasl?: SASLOptions): Kafka {
  const security = sasl ? { sasl } : {};
  return new Kafka({ brokers: [...brokers], clientId: 'test', logLevel: logLevel.NOTHING, ...security });
}
