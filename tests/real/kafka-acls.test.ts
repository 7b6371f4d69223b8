/** Setup and rights on a real broker with StandardAuthorizer and SASL/SCRAM, through the command. */
import { join } from 'node:path';
import kafkajs, { type Kafka } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { checkKafka } from '../../cli/doctor/kafka.ts';
import { REDUCER_GROUPS } from '../../cli/kafka/cluster.ts';
import { type Sandbox, sandbox } from '../../cli/testing.ts';
import { createReducers } from '../../cli/up/reducers.ts';
import { verdict } from '../../consumers/sink/testing.ts';
import { startSink } from '../../consumers/sink.ts';
import { event } from '../../log/conformance/rig.ts';
import { mask } from '../../log/embedded/testing.ts';
import { createClient } from '../../log/kafka/client.ts';
import { type KafkaLog, openKafkaLog } from '../../log/kafka/open.ts';
import { openRegistry } from '../../log/kafka/registry/registry.ts';
import { writersOf } from '../../log/kafka/setup/apply-acls.ts';
import { layout } from '../../producers/home.ts';
import { TOKENS } from '../../streams/testing/secrets.ts';
import { openReader } from '../../warehouse/query.ts';
import { type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { startRegistry } from '../support/registry.ts';
import type { RegistryServer } from '../support/registry-server.ts';

const ROLES = ['agent', 'oracle', 'streams', 'sink', 'reviewer'] as const;
const TABLES = ['events', 'verdicts', 'sessions', 'quarantine', 'deadletter', 'metrics'];
const PASSWORD = 'a-password';
const why = await noKafka();
const given = process.env.FLIPSTREAM_TEST_KAFKA ? 'brokers that are given have users of their own' : null;

describe.skipIf(why !== null || given !== null)(
  'a cluster where nothing is allowed that no ACL allows',
  () => {
    let cluster: KafkaCluster;
    let registry: RegistryServer;
    let box: Sandbox;
    const logs: KafkaLog[] = [];

    beforeAll(async () => {
      const scram = Object.fromEntries(ROLES.map((role) => [`flipstream-${role}`, PASSWORD]));
      [cluster, registry] = await Promise.all([startKafka({ scram }), startRegistry()]);
      box = sandbox();
    }, 120_000);
    afterAll(async () => {
      await Promise.all(logs.map((log) => log.close()));
      await Promise.all([cluster?.stop(), registry?.close()]);
      box?.remove();
    });

    const kafka = (...args: string[]) =>
      box.flipstream([
        ...['kafka', ...args, '--brokers', cluster.adminBrokers.join(','), '--registry', registry.url],
      ]);
    const access = (role: (typeof ROLES)[number]) => ({
      brokers: cluster.brokers,
      tls: false,
      sasl: { mechanism: 'scram-sha-512' as const, username: `flipstream-${role}`, password: PASSWORD },
    });
    function logOf(role: (typeof ROLES)[number]): KafkaLog {
      const log = openKafkaLog({
        ...access(role),
        registry: openRegistry({ url: registry.url }),
        seal: async (bytes) => mask(bytes),
        warn: () => {},
      });
      logs.push(log);
      return log;
    }
    const client = (role: (typeof ROLES)[number]): Kafka => createClient(access(role));

    test('setup shows, makes, and has nothing to do after it; a wrong partition count is refused', async () => {
      const shape = ['--partitions', '2', '--replication', '1'];
      const dry = await kafka('setup', ...shape, '--dry-run');
      expect(dry.err).toBe('');
      expect(dry.out).toMatch(/create {2}trace\.raw: 2 partitions/);
      const Result = z.looseObject({ changes: z.array(z.looseObject({ kind: z.string() })) });
      const made = Result.parse((await kafka('setup', ...shape, '--json')).json());
      expect(made.changes).toHaveLength(14 + 2 * 10);
      expect((await kafka('setup', ...shape)).out).toContain('Nothing to change');
      const wrong = await kafka('setup', '--partitions', '3', '--replication', '1');
      expect(wrong).toMatchObject({ code: 2 });
      expect(wrong.err).toContain('trace.raw has 2 partitions and 3 are wanted');
    });

    test('a setting that drifted is put back, and what others set stays', async () => {
      const admin = createClient({ brokers: cluster.adminBrokers, tls: false }).admin();
      await admin.connect();
      const entries = { 'retention.ms': '1000', 'segment.bytes': '1048576', 'max.message.bytes': '16777216' };
      await admin.alterConfigs({
        validateOnly: false,
        resources: [
          {
            type: kafkajs.ConfigResourceTypes.TOPIC,
            name: 'trace.events',
            configEntries: Object.entries(entries).map(([name, value]) => ({ name, value })),
          },
        ],
      });
      const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: 'trace.events' }];
      const settings = async () => {
        const described = await admin.describeConfigs({ includeSynonyms: false, resources });
        const all = described.resources[0]?.configEntries ?? [];
        return Object.fromEntries(all.map(({ configName, configValue }) => [configName, configValue]));
      };
      // A broker hears of a setting a moment after its controller has taken it.
      const become = (wanted: object) =>
        vi.waitFor(async () => expect(await settings()).toMatchObject(wanted), 20_000);
      await become(entries);
      const ran = await kafka('setup');
      expect(ran.out).toContain('trace.events: retention.ms from 1000 to 31536000000');
      expect(ran.out).toContain('trace.events: compression.type from producer to zstd');
      expect(ran.out).toContain('3 changes made');
      await become({ ...entries, 'retention.ms': '31536000000' });
      await admin.disconnect();
    });

    test('without rights an agent host cannot even write events; with its role it can', async () => {
      await expect(logOf('agent').publish([event('k', 1)])).rejects.toMatchObject({
        code: 'kafka_not_allowed',
      });
      expect(await kafka('acls', '--apply')).toMatchObject({ code: 0, err: '' });
      await logOf('agent').publish([event('k', 1)]);
    });

    test('an agent host that tries to write a verdict, read the quarantine or create a topic is refused', async () => {
      for (const topic of ['trace.quarantine', 'deadletter', 'trace.raw'] as const)
        await expect(
          Promise.all([0, 1].map((p) => logOf('agent').read(topic, p, 0, 1))),
        ).rejects.toMatchObject({
          kind: 'usage',
        });
      await expect(logOf('agent').publish([verdict('v', 'k')])).rejects.toMatchObject({ kind: 'usage' });

      // Not only our own code keeps to it: any client with this user is refused by the broker.
      const agent = client('agent');
      const admin = agent.admin();
      await admin.connect();
      const mine = { topics: [{ topic: 'mine', numPartitions: 1, replicationFactor: 1 }] };
      await expect(admin.createTopics(mine)).rejects.toMatchObject({ name: 'KafkaJSAggregateError' });
      await admin.disconnect();
      const producer = agent.producer();
      await producer.connect();
      const forged = { topic: 'oracle.verdicts', messages: [{ key: 'k', value: 'PASS' }] };
      await expect(producer.send(forged)).rejects.toThrow(/not authorized/i);
      await producer.disconnect();
      const consumer = agent.consumer({ groupId: 'mine' });
      await consumer.connect();
      await expect(consumer.subscribe({ topic: 'trace.quarantine' })).rejects.toThrow(/not authorized/i);
      await consumer.disconnect();

      const superuser = createClient({ brokers: cluster.adminBrokers, tls: false }).admin();
      await superuser.connect();
      expect(await superuser.listTopics()).not.toContain('mine');
      const ends = await superuser.fetchTopicOffsets('oracle.verdicts');
      expect(ends.map(({ high }) => high)).toEqual(['0', '0']);
      expect(await writersOf(superuser, 'oracle.verdicts')).toEqual(['User:flipstream-oracle']);
      await superuser.disconnect();
    });

    test('the oracle may write verdicts and read none of the traces; the reviewer may read what was set aside', async () => {
      await logOf('oracle').publish([verdict('v', 'k')]);
      await expect(logOf('oracle').read('trace.events', 0, 0, 1)).rejects.toMatchObject({ kind: 'usage' });
      expect((await logOf('reviewer').read('deadletter', 0, 0, 1)).records).toEqual([]);
      await expect(logOf('reviewer').publish([verdict('v', 'k')])).rejects.toMatchObject({ kind: 'usage' });
    });

    test('the reviewer puts a dead letter back with the rights of the role', async () => {
      const reviewer = logOf('reviewer');
      const ends = async () =>
        (await Promise.all([0, 1].map((p) => reviewer.read('trace.raw', p, 0, 100)))).flatMap(
          (one) => one.records,
        );
      const before = await ends();
      const [first] = before;
      if (!first) throw new Error('nothing was published');
      const stored = await reviewer.bytesAt('trace.raw', first.partition, first.offset);
      if (!stored) throw new Error('nothing lies there');
      // The first transaction of a broker waits until it has loaded its coordinator.
      await vi.waitFor(() => reviewer.putBack([stored], []), { timeout: 30_000, interval: 200 });
      // The broker writes a commit's marker after it has answered.
      await vi.waitFor(async () => expect(await ends()).toHaveLength(before.length + 1));
    });

    test('streams and sink do all of their work with the rights of their roles, poison and secrets included', async () => {
      const ring = { v: 1 as const, keys: [] };
      // An agent host may write no dead letters: what no topic takes is left out, and does not hold up the rest.
      const large = event('k', 4, 'x'.repeat(9 * 2 ** 20));
      await logOf('agent').publish([event('k', 2), large, event('k', 3, TOKENS['github-token'])]);
      const superuser = createClient({ brokers: cluster.adminBrokers, tls: false }).producer();
      await superuser.connect();
      for (const topic of ['trace.raw', 'trace.events'])
        await superuser.send({ topic, messages: [{ key: 'k', value: 'poison' }] });
      await superuser.disconnect();
      const streams = createReducers(logOf('streams'), ring);
      const warehouse = join(box.root, 'warehouse');
      const log = logOf('sink');
      const sink = await startSink({ log, warehouse, clock: Date.now, flushMs: 50, memoryMiB: 256 });
      const landed = async () => {
        await sink.flush();
        const reader = await openReader(warehouse);
        const counts = TABLES.map((table) => `(SELECT count(*)::INTEGER FROM ${table})`);
        const { rows } = await reader.query(`SELECT ${counts.join(', ')}`);
        reader.close();
        return rows[0];
      };
      const ended = Promise.race([...streams, sink].map(({ done }) => done)).then(() => ['ended']);
      await vi.waitFor(
        async () => expect(await Promise.race([landed(), ended])).toEqual([3, 1, 1, 1, 3, 1]),
        {
          timeout: 60_000,
          interval: 200,
        },
      );
      // The sink watches all groups, and its figures tell how far they are.
      await vi.waitFor(async () => {
        const lags = await log.lag();
        expect(new Set(lags.map(({ group }) => group))).toEqual(new Set([...REDUCER_GROUPS, 'sink']));
        expect(lags.filter(({ committed, end }) => committed < end)).toEqual([]);
      }, 30_000);
      await Promise.all([...streams, sink].map((running) => running.stop()));
    });

    test.each(ROLES)('doctor as %s finds no problem, and says what this user may not see', async (role) => {
      const { sasl, ...reach } = access(role);
      const found = await checkKafka(
        {
          home: layout(join(box.root, role)),
          engine: { engine: 'kafka', ...reach, sasl, registry: registry.url },
        },
        { ...reach, sasl, registry: registry.url },
        Date.now,
      );
      const states = Object.fromEntries(found.map(({ check, state }) => [check, state]));
      const reads = role === 'streams' || role === 'sink' || role === 'reviewer';
      expect(states).toEqual({
        kafka: 'ok',
        topics: 'warning',
        schemas: 'ok',
        rights: 'warning',
        lag: 'ok',
        writers: 'ok',
        review: role === 'sink' || role === 'reviewer' ? 'ok' : 'warning',
        clock: reads ? 'ok' : 'warning',
      });
      const said = (check: string) => found.find((one) => one.check === check)?.message;
      expect(said('topics')).toMatch(/DESCRIBE_CONFIGS/);
      if (role === 'agent')
        expect(said('topics')).toMatch(/^trace\.raw: there.*oracle\.verdicts, .*DESCRIBE/);
      expect(said('rights')).toMatch(/DESCRIBE on the cluster/);
    });

    test('doctor as a superuser looks at everything, and a topic that is missing is a problem', async () => {
      const reach = { brokers: cluster.adminBrokers, tls: false, registry: registry.url };
      const place = { home: layout(join(box.root, 'super')), engine: { engine: 'kafka', ...reach } };
      const look = () => checkKafka(place, reach, Date.now);
      expect((await look()).filter(({ state }) => state !== 'ok')).toEqual([]);
      const admin = createClient({ brokers: cluster.adminBrokers, tls: false }).admin();
      await admin.connect();
      await admin.deleteTopics({ topics: ['tasks'] });
      await vi.waitFor(async () => {
        const bad = (await look()).filter(({ state }) => state !== 'ok');
        expect(bad).toMatchObject([
          { check: 'topics', state: 'problem', message: expect.stringContaining('tasks is missing') },
        ]);
      }, 20_000);
      await admin.disconnect();
      expect(await kafka('setup')).toMatchObject({ code: 0 });
    });
  },
);

test('rights on a real broker were tried', ({ skip }) => {
  skip(why !== null || given !== null, why ?? given ?? '');
});
