/** The brokers of docker-compose.yml's profile production: deploy/kafka/start-broker.sh starts them, and they keep what it says. */
import { readFileSync } from 'node:fs';
import type kafkajs from 'kafkajs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Sandbox, sandbox } from '../../cli/testing.ts';
import { verdict } from '../../consumers/sink/testing.ts';
import { event, everything, upTo } from '../../log/conformance/rig.ts';
import { mask } from '../../log/embedded/testing.ts';
import { createClient } from '../../log/kafka/client.ts';
import { type KafkaLog, openKafkaLog } from '../../log/kafka/open.ts';
import { openRegistry } from '../../log/kafka/registry/registry.ts';
import { ACL_ROLES, type AclRole } from '../../log/kafka/setup/acls.ts';
import { type ComposeBrokers, noComposeBrokers, startComposeBrokers } from '../support/compose-brokers.ts';
import { startRegistry } from '../support/registry.ts';
import type { RegistryServer } from '../support/registry-server.ts';

type User = AclRole | 'admin';
const PASSWORD = 'All$of!it@[goes]=here';
const OTHER_PASSWORD = 'another-password';
const why = await noComposeBrokers();

describe.skipIf(why !== null)('three brokers as docker compose starts them', () => {
  let brokers: ComposeBrokers;
  let registry: RegistryServer;
  let box: Sandbox;
  const logs: KafkaLog[] = [];

  beforeAll(async () => {
    box = sandbox();
    registry = await startRegistry();
    // Resolves when the health check of the file, which runs in each container, has passed.
    brokers = await startComposeBrokers(PASSWORD);
  });
  afterAll(async () => {
    await Promise.all(logs.map((log) => log.close()));
    await Promise.all([brokers?.remove(), registry?.close()]);
    box?.remove();
  });

  const access = (user: User, password = PASSWORD) => ({
    brokers: brokers.addresses,
    tls: false,
    sasl: { mechanism: 'scram-sha-512' as const, username: `flipstream-${user}`, password },
  });
  function logOf(user: User, password = PASSWORD): KafkaLog {
    const log = openKafkaLog({
      ...access(user, password),
      registry: openRegistry({ url: registry.url }),
      seal: async (bytes) => mask(bytes),
      warn: () => {},
    });
    logs.push(log);
    return log;
  }
  function kafka(password: string, ...args: string[]) {
    box.env.FLIPSTREAM_KAFKA_USERNAME = 'flipstream-admin';
    box.env.FLIPSTREAM_KAFKA_PASSWORD = password;
    const place = ['--brokers', brokers.addresses.join(','), '--registry', registry.url];
    return box.flipstream(['kafka', ...args, ...place]);
  }
  /** As this user, through the machine's own port. */
  async function asAdmin<T>(user: User, ask: (admin: kafkajs.Admin) => Promise<T>): Promise<T> {
    const admin = createClient(access(user)).admin();
    try {
      await admin.connect();
      return await ask(admin);
    } finally {
      await admin.disconnect();
    }
  }
  const inSync = () =>
    asAdmin('admin', async (admin) => {
      const { topics } = await admin.fetchTopicMetadata({ topics: ['trace.raw', 'oracle.verdicts'] });
      const partitions = topics.flatMap((topic) => topic.partitions);
      return new Set(partitions.map(({ isr }) => isr.toSorted().join()));
    });

  test('every user of the script may log in, with the right password only', async () => {
    for (const user of ['admin', ...ACL_ROLES] as const)
      expect((await asAdmin(user, (admin) => admin.describeCluster())).brokers).toHaveLength(3);
    const wrong = await kafka('wrong', 'setup', '--replication', '3');
    expect(wrong).toMatchObject({ code: 2, out: '' });
    expect(wrong.err).toContain(
      `Kafka at ${brokers.addresses.join(', ')} refuses the user name or the password`,
    );
  });

  test('setup and rights go through, with three replicas of everything', async () => {
    expect(await kafka(PASSWORD, 'setup', '--replication', '3')).toMatchObject({ code: 0, err: '' });
    expect(await kafka(PASSWORD, 'acls', '--apply')).toMatchObject({ code: 0, err: '' });
    await vi.waitFor(async () => expect(await inSync()).toEqual(new Set(['1,2,3'])), 60_000);
  });

  test('an agent host may write events, and is refused all else', async () => {
    // A broker hears of rights a moment after its controller has taken them.
    const agent = logOf('agent');
    await vi.waitFor(() => agent.publish([event('k', 1)]), 30_000);
    const notAllowed = { code: 'kafka_not_allowed' };
    await expect(agent.publish([verdict('v', 'k')])).rejects.toMatchObject(notAllowed);
    await expect(agent.read('trace.quarantine', 0, 0, 1)).rejects.toMatchObject(notAllowed);
    const topics = [{ topic: 'mine', numPartitions: 1, replicationFactor: 1 }];
    await expect(asAdmin('agent', (admin) => admin.createTopics({ topics }))).rejects.toMatchObject({
      errors: [{ type: 'TOPIC_AUTHORIZATION_FAILED' }],
    });
    await vi.waitFor(() => logOf('oracle').publish([verdict('v', 'k')]), 30_000);
  });

  test('where brokers need no login, only brokers reach them', async () => {
    const { NetworkSettings } = await (await brokers.containerOf('kafka-2')).inspect();
    const networks = Object.entries(NetworkSettings.Networks).map(
      ([name, { IPAddress }]) => [name.replace(/^.*_/, ''), IPAddress] as const,
    );
    const open = 'for port in 9092 9093 9095; do (: < /dev/tcp/$0/$port) 2>/dev/null && echo $port; done';
    const answering = networks.map(async ([name, address]) => {
      const ports = await brokers.execute('kafka-1', 'bash', '-c', `${open}; true`, address);
      return [name, ports.trim().split(/\s+/)];
    });
    expect(Object.fromEntries(await Promise.all(answering))).toEqual({
      default: ['9092'],
      brokers: ['9092', '9093', '9095'],
    });
  });

  test('no password, and nothing that one could be found out from, is in what they log', async () => {
    for (const name of ['kafka-1', 'kafka-2', 'kafka-3'] as const) {
      const logged = await brokers.logged(name);
      expect(logged).not.toContain(PASSWORD);
      expect(logged).not.toMatch(/storedKey|serverKey/);
    }
  });

  test('a password is changed as the guide says, and the old one is refused', async () => {
    const guide = readFileSync(new URL('../../docs/guides/kafka.md', import.meta.url), 'utf8');
    const command = /production exec kafka-1 (.*(?<=\\)\n.*)/.exec(guide)?.[1]?.replace('…', OTHER_PASSWORD);
    await brokers.execute('kafka-1', 'bash', '-c', command ?? 'false');
    const changed = logOf('agent', OTHER_PASSWORD);
    await vi.waitFor(() => changed.publish([event('k', 2)]), 30_000);
    await expect(logOf('agent').publish([event('k', 3)])).rejects.toMatchObject({
      code: 'kafka_login_refused',
    });
  });

  test('one is killed: two take what is published; started again, it is in sync with them', async () => {
    const killed = await brokers.containerOf('kafka-2');
    await killed.kill();
    const agent = logOf('agent', OTHER_PASSWORD);
    const published = upTo(50).map((n) => event(`key-${n}`, n));
    await vi.waitFor(() => agent.publish(published), { timeout: 120_000, interval: 500 });
    // All of the replicas that are in sync, and they are the two: min.insync.replicas takes no fewer.
    await vi.waitFor(async () => expect(await inSync()).toEqual(new Set(['1,3'])), 30_000);
    const there = new Set((await everything(logOf('streams'), 'trace.raw')).map(({ key }) => key));
    expect([...there].toSorted()).toEqual(['k', ...published.map(({ key }) => key)].toSorted());

    await killed.start();
    await brokers.healthy('kafka-2');
    await vi.waitFor(async () => expect(await inSync()).toEqual(new Set(['1,2,3'])), 120_000);
    await agent.publish(published);
  });

  test('stopped, they end by themselves; made anew, they have what they had', async () => {
    expect(await brokers.stop()).toEqual([143, 143, 143]);
    await brokers.renew();
    const streams = logOf('streams');
    const records = await vi.waitFor(() => everything(streams, 'trace.raw'), 60_000);
    expect(new Set(records.map(({ key }) => key)).size).toBe(51);
    await vi.waitFor(() => logOf('agent', OTHER_PASSWORD).publish([event('k', 4)]), 60_000);
    await vi.waitFor(async () => expect(await inSync()).toEqual(new Set(['1,2,3'])), 120_000);
  });
});

test('the brokers of docker-compose.yml were tried', ({ skip }) => {
  skip(why !== null, why ?? '');
});
