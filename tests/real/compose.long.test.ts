/** Every process of docker-compose.yml starts with the command it names, against a real broker. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort } from '../../cli/init/prepare.ts';
import { PROFILES, type Service, servicesOf } from '../support/compose.ts';
import { composeCommand, noCompose, PROJECT_FOLDER } from '../support/compose-command.ts';
import { type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { startRegistry } from '../support/registry.ts';
import type { RegistryServer } from '../support/registry-server.ts';

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
const why = await noKafka();

describe.skipIf(why !== null)('processes of docker-compose.yml', () => {
  let cluster: KafkaCluster;
  let registry: RegistryServer;
  const home = mkdtempSync(join(tmpdir(), 'flipstream-compose-'));
  beforeAll(async () => {
    writeFileSync(join(home, 'keyring.json'), JSON.stringify({ v: 1, keys: [] }));
    const settings = {
      'super.users': 'User:ANONYMOUS',
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    };
    [cluster, registry] = await Promise.all([startKafka({ settings }), startRegistry()]);
  }, 120_000);
  afterAll(async () => {
    await Promise.all([cluster?.stop(), registry?.close()]);
    rmSync(home, { recursive: true, force: true });
  });

  /** As the service, but for the machine's own addresses and one broker where there are three. */
  async function start({ command = [], environment }: Service) {
    const port = await freePort();
    const args = command.map((arg, i) =>
      command[i - 1] === '--metrics-port' ? String(port) : command[i - 1] === '--replication' ? '1' : arg,
    );
    const { FLIPSTREAM_KAFKA_USERNAME: _, ...rest } = environment;
    const env = {
      ...rest,
      PATH: process.env.PATH,
      FLIPSTREAM_HOME: home,
      FLIPSTREAM_KAFKA_BROKERS: cluster.brokers.join(','),
      FLIPSTREAM_REGISTRY: registry.url,
    };
    const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    return { child, ended, said, metrics: `http://127.0.0.1:${port}/metrics` };
  }

  test.each(PROFILES)(
    'profile %s',
    async (profile) => {
      const ours = [...servicesOf(profile)].filter(([, { image }]) => image === 'flipstream');
      for (const [name, service] of ours) {
        const { child, ended, said, metrics } = await start(service);
        if (service.command?.[0] === 'up') {
          await vi.waitFor(async () => expect((await fetch(metrics)).status, said.join('')).toBe(200), {
            timeout: 150_000,
            interval: 250,
          });
          child.kill('SIGTERM');
        }
        expect([name, await ended, said.join('')]).toEqual([name, 0, expect.any(String)]);
      }
    },
    900_000,
  );
});

const without = noCompose();

for (const profile of PROFILES)
  test.skipIf(without !== null)(`docker compose config takes the profile ${profile}`, () => {
    const composer = composeCommand();
    if (!composer) throw new Error('it was there a moment ago');
    const args = [...composer.args, '--profile', profile, 'config', '-q'];
    const ran = spawnSync(composer.file, args, { cwd: PROJECT_FOLDER, encoding: 'utf8' });
    expect([ran.status, ran.stderr]).toEqual([0, expect.any(String)]);
  });
