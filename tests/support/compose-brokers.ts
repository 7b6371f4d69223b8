/** The three brokers of docker-compose.yml's profile production, started by docker compose as a user starts them. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Container } from 'dockerode';
import { DOCKER_SOCKET } from '../../oracle/runner/container.ts';
import { servicesOf } from './compose.ts';
import { composeCommand, noCompose, PROJECT_FOLDER } from './compose-command.ts';
import { docker } from './docker-engine.ts';
import { brokerImage } from './kafka-broker-image.ts';
import { KAFKA_IMAGE } from './kafka-broker-means.ts';

const call = promisify(execFile);

/** Always the same, so that what a killed test left behind is swept by the next. */
const PROJECT = 'flipstream-test-production';
const NAMES = ['kafka-1', 'kafka-2', 'kafka-3'] as const;
export type BrokerName = (typeof NAMES)[number];
const PATIENCE_MS = 240_000;

export interface ComposeBrokers {
  /** Where this machine reaches them. */
  addresses: string[];
  containerOf(name: BrokerName): Promise<Container>;
  /** Resolves when the broker passes the health check of the compose file. @throws what it logged, when it does not. */
  healthy(name: BrokerName): Promise<void>;
  /** Runs a program in the broker's container. @returns its standard output. */
  execute(name: BrokerName, ...command: string[]): Promise<string>;
  /** All that the broker has logged. */
  logged(name: BrokerName): Promise<string>;
  /** Stops all. @returns the exit codes: 143 ended by itself, 137 had to be killed. */
  stop(): Promise<number[]>;
  /** Starts all in new containers, on the volumes that are there. Resolves when they are healthy. */
  renew(): Promise<void>;
  /** Takes containers, networks and volumes away. */
  remove(): Promise<void>;
}

/** @returns why these brokers cannot be started here, or null. @throws where nothing may be skipped (CI). */
export async function noComposeBrokers(): Promise<string | null> {
  const found = await brokerImage();
  return 'reason' in found ? found.reason : noCompose();
}

/** Resolves when all three are healthy. @param password of every user. */
export async function startComposeBrokers(password: string): Promise<ComposeBrokers> {
  const found = await brokerImage();
  const command = composeCommand();
  if ('reason' in found || !command) throw new Error('ask noComposeBrokers first');
  const root = mkdtempSync(join(tmpdir(), 'flipstream-compose-'));
  const files = ['--file', join(PROJECT_FOLDER, 'docker-compose.yml')];
  if (found.image !== KAFKA_IMAGE) {
    const services = Object.fromEntries(NAMES.map((name) => [name, { image: found.image }]));
    writeFileSync(join(root, 'image.json'), JSON.stringify({ services }));
    files.push('--file', join(root, 'image.json'));
  }
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    DOCKER_HOST: `unix://${DOCKER_SOCKET}`,
    FLIPSTREAM_KAFKA_PASSWORD: password,
  };
  const compose = async (...args: string[]): Promise<string> => {
    const place = ['--project-name', PROJECT, ...files, '--profile', 'production'];
    const options = { cwd: PROJECT_FOLDER, env, maxBuffer: 2 ** 26 };
    return (await call(command.file, [...command.args, ...place, ...args], options)).stdout;
  };
  const containerOf = async (name: BrokerName) => {
    const [id] = (await compose('ps', '--quiet', name)).split('\n');
    return docker.getContainer(id || name);
  };
  const sweep = () => compose('down', '--volumes', '--remove-orphans', '--timeout', '0');
  const logged = (name: BrokerName) => compose('logs', '--no-color', name);
  const brokers: ComposeBrokers = {
    addresses: NAMES.map(outsideAddress),
    containerOf,
    logged,
    async healthy(name) {
      const container = await containerOf(name);
      for (const until = performance.now() + PATIENCE_MS; ; await wait(250)) {
        const { State, RestartCount } = await container.inspect();
        if (State.Health?.Status === 'healthy') return;
        if (State.Health?.Status === 'unhealthy' || RestartCount > 0 || performance.now() > until) {
          const checks = State.Health?.Log.map(({ Output }) => Output).join('') ?? '';
          throw new Error(`${name} does not become healthy: ${checks}\n${await logged(name)}`);
        }
      }
    },
    execute: (name, ...command) => compose('exec', '-T', name, ...command),
    async stop() {
      const containers = await Promise.all(NAMES.map(containerOf));
      await compose('stop', ...NAMES);
      const ended = await Promise.all(containers.map((container) => container.inspect()));
      return ended.map(({ State }) => State.ExitCode);
    },
    async renew() {
      await compose('up', '--detach', '--force-recreate', ...NAMES);
      await Promise.all(NAMES.map((name) => brokers.healthy(name)));
    },
    async remove() {
      await sweep();
      rmSync(root, { recursive: true, force: true });
    },
  };
  try {
    await sweep();
    await brokers.renew();
    return brokers;
  } catch (error) {
    await brokers.remove();
    throw error;
  }
}

/** `host:port` that the compose file publishes for the broker. */
function outsideAddress(name: BrokerName): string {
  const [published = ''] = servicesOf('production').get(name)?.ports ?? [];
  return published.replace(/\$\{\w+:-([^}]*)\}/, '$1').replace(/:\d+$/, '');
}
