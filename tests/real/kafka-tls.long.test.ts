/** Brokers that speak TLS under a certificate of one's own. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KafkaCluster, startKafka } from '../support/kafka-broker.ts';
import { findMeans } from '../support/kafka-broker-means.ts';
import { startRegistry } from '../support/registry.ts';
import type { RegistryServer } from '../support/registry-server.ts';

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
const PASSWORD = 'for-this-test';
const { kind } = await findMeans();

if (kind !== 'jars')
  console.info('skipped: only brokers that are started from jars here get a certificate of ours');

describe.skipIf(kind !== 'jars')('a broker that speaks TLS', () => {
  const root = mkdtempSync(join(tmpdir(), 'flipstream-tls-'));
  const certificate = join(root, 'broker.pem');
  let cluster: KafkaCluster;
  let registry: RegistryServer;
  beforeAll(async () => {
    const store = ['-keystore', join(root, 'broker.p12'), '-storetype', 'PKCS12', '-storepass', PASSWORD];
    const made = ['-alias', 'broker', '-keyalg', 'EC', '-dname', 'CN=broker', '-validity', '2'];
    const names = ['-ext', 'san=ip:127.0.0.1,dns:localhost'];
    execFileSync('keytool', ['-genkeypair', ...store, ...made, ...names], { stdio: 'ignore' });
    const pem = execFileSync('keytool', ['-exportcert', '-rfc', '-alias', 'broker', ...store]);
    writeFileSync(certificate, pem);
    const settings = {
      'listener.security.protocol.map': 'CLIENT:SSL,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT',
      'ssl.keystore.type': 'PKCS12',
      'ssl.keystore.location': join(root, 'broker.p12'),
      'ssl.keystore.password': PASSWORD,
    };
    [cluster, registry] = await Promise.all([startKafka({ settings }), startRegistry()]);
  });
  afterAll(async () => {
    await Promise.all([cluster?.stop(), registry?.close()]);
    rmSync(root, { recursive: true, force: true });
  });

  async function flipstream(args: readonly string[], env: NodeJS.ProcessEnv) {
    const child = spawn(process.execPath, [MAIN, ...args], {
      env: {
        PATH: process.env.PATH,
        FLIPSTREAM_HOME: join(root, 'home'),
        FLIPSTREAM_ENGINE: 'kafka',
        FLIPSTREAM_KAFKA_BROKERS: cluster.brokers.join(','),
        FLIPSTREAM_KAFKA_TLS: '1',
        FLIPSTREAM_REGISTRY: registry.url,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [err, , [code]] = await Promise.all([text(child.stderr), text(child.stdout), once(child, 'exit')]);
    return { code, err };
  }

  test('is spoken to when its authority is known, and not trusted otherwise', async () => {
    const setup = ['kafka', 'setup', '--replication', '1'];
    const stranger = await flipstream(setup, {});
    expect(stranger).toMatchObject({ code: 1, err: expect.stringContaining('self-signed certificate') });
    const known = await flipstream(setup, { NODE_EXTRA_CA_CERTS: certificate });
    expect(known).toEqual({ code: 0, err: '' });
    // Records too, not only the questions of an admin.
    const asked = await flipstream(['deadletter', 'list'], { NODE_EXTRA_CA_CERTS: certificate });
    expect(asked).toEqual({ code: 0, err: '' });
  }, 120_000);
});
