import kafkajs from 'kafkajs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { schemaText } from '../../../schemas/codec.ts';
import { startRegistry } from '../../../tests/support/registry.ts';
import type { RegistryServer } from '../../../tests/support/registry-server.ts';
import { lookAtTopics } from './look.ts';
import { setup } from './setup.ts';
import { planTopics, type TopicAdmin } from './topics.ts';
import { wantedTopics } from './wanted.ts';

interface FakeTopic {
  partitions: number;
  replication?: number;
  settings: Record<string, string>;
}

/** A cluster's topics in memory. Altering replaces every setting of a topic, as the broker's call does. */
function fakeCluster(
  topics: Record<string, FakeTopic> = {},
  brokers = 3,
): { admin: TopicAdmin; topics: typeof topics } {
  const record = (entries: readonly { name: string; value: string }[] = []) =>
    Object.fromEntries(entries.map(({ name, value }) => [name, value]));
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  const admin: TopicAdmin = {
    describeCluster: async () => ({
      brokers: upTo(brokers).map((nodeId) => ({ nodeId, host: 'broker', port: 9092 })),
      controller: 1,
      clusterId: 'fake',
    }),
    listTopics: async () => Object.keys(topics),
    fetchTopicMetadata: async (wanted) => ({
      topics: (wanted?.topics ?? []).map((name) => ({
        name,
        partitions: Array.from({ length: topics[name]?.partitions ?? 0 }, (_, partitionId) => ({
          partitionErrorCode: 0,
          partitionId,
          leader: 1,
          replicas: upTo(topics[name]?.replication ?? 1),
          isr: [1],
        })),
      })),
    }),
    describeConfigs: async ({ resources }) => ({
      throttleTime: 0,
      resources: resources.map(({ type, name }) => ({
        errorCode: 0,
        errorMessage: '',
        resourceName: name,
        resourceType: type,
        configEntries: Object.entries(topics[name]?.settings ?? {}).map(([configName, configValue]) => ({
          configName,
          configValue,
          configSource: kafkajs.ConfigSource.TOPIC_CONFIG,
          isDefault: false,
          isSensitive: false,
          readOnly: false,
          configSynonyms: [],
        })),
      })),
    }),
    createTopics: async (options) => {
      for (const { topic, numPartitions = 1, replicationFactor = 1, configEntries } of options.topics)
        topics[topic] = {
          partitions: numPartitions,
          replication: replicationFactor,
          settings: record(configEntries),
        };
      return true;
    },
    alterConfigs: async ({ resources }) => {
      for (const { name, configEntries } of resources)
        topics[name] = { partitions: 0, ...topics[name], settings: record(configEntries) };
    },
  };
  return { admin, topics };
}

let registry: RegistryServer;
beforeEach(async () => {
  registry = await startRegistry();
});
afterEach(() => registry.close());

const given = { groups: ['join'], shape: { partitions: 3, replication: 1 }, dryRun: false };

test('a dry run writes nothing and says what the run then does; another run changes nothing', async () => {
  const { admin, topics } = fakeCluster();
  const dry = await setup({ admin, registry, ...given, dryRun: true });
  expect([topics, await registry.ask('GET /subjects')]).toEqual([{}, []]);
  const done = await setup({ admin, registry, ...given });
  expect(done).toEqual(dry);
  expect(topics['trace.raw']).toMatchObject({
    partitions: 3,
    settings: { 'retention.ms': '604800000', 'cleanup.policy': 'delete', 'compression.type': 'zstd' },
  });
  expect(topics['join.state']?.settings).toMatchObject({ 'retention.ms': '-1', 'cleanup.policy': 'compact' });
  expect(await registry.ask('GET /config/flips-value')).toEqual({ compatibilityLevel: 'FULL_TRANSITIVE' });
  expect(await registry.ask('POST /subjects/flips-value', { schema: schemaText('Flip') })).toMatchObject({
    version: 1,
  });
  const writes = () =>
    registry.requests.filter((request) => /^PUT|versions$/.test(request) && !/^GET/.test(request));
  const before = writes().length;
  expect((await setup({ admin, registry, ...given, shape: { replication: 1 } })).changes).toEqual([]);
  expect(writes()).toHaveLength(before);
});

test('a wrong partition count is refused before anything is written', async () => {
  const { admin, topics } = fakeCluster({ 'trace.events': { partitions: 4, settings: {} } });
  await expect(setup({ admin, registry, ...given })).rejects.toMatchObject({
    code: 'setup_refused',
    message: expect.stringContaining('trace.events has 4 partitions and 3 are wanted'),
  });
  expect(Object.keys(topics)).toEqual(['trace.events']);
  expect(await registry.ask('GET /subjects')).toEqual([]);
});

test('what answers there is no registry: nothing is written', async () => {
  registry.trouble = 'proxy-404';
  const { admin, topics } = fakeCluster();
  await expect(setup({ admin, registry, ...given })).rejects.toMatchObject({ code: 'registry_unavailable' });
  expect(topics).toEqual({});
});

test('a registry that refuses the login: told as that, before anything is written', async () => {
  registry.trouble = 'unauthorized';
  const { admin, topics } = fakeCluster();
  await expect(setup({ admin, registry, ...given })).rejects.toMatchObject({
    code: 'schema_refused',
    message: expect.stringMatching(/Unauthorized: are the credentials right\?$/),
  });
  expect(topics).toEqual({});
});

test('an incompatible schema is refused with its field and the reason, before anything is written', async () => {
  const changed = schemaText('Flip').replace(
    '"name":"task_id","type":"string"',
    '"name":"task_id","type":"long"',
  );
  const gone = '{"type":"record","name":"flipstream.Flip","fields":[]}';
  await registry.register('flips-value', gone);
  await registry.ask('DELETE /subjects/flips-value/versions/1');
  await registry.register('flips-value', changed);
  const { admin, topics } = fakeCluster();
  await expect(setup({ admin, registry, ...given })).rejects.toMatchObject({
    code: 'setup_refused',
    message: expect.stringMatching(
      /flips-value, version 2: .* field task_id: cannot read "long" as "string"/,
    ),
  });
  expect(topics).toEqual({});
});

test('what somebody set for a topic stays, and a longer retention too', async () => {
  const settings = {
    'retention.ms': '-1',
    'cleanup.policy': 'compact',
    'segment.bytes': '1000',
    'compression.type': 'producer',
  };
  const { admin, topics } = fakeCluster({ 'trace.raw': { partitions: 3, settings } });
  const { changes } = await setup({ admin, registry, ...given });
  expect(changes.filter(({ kind }) => kind === 'alter-topic')).toContainEqual({
    kind: 'alter-topic',
    topic: 'trace.raw',
    setting: 'cleanup.policy',
    from: 'compact',
    to: 'delete',
  });
  expect(topics['trace.raw']?.settings).toMatchObject({
    'retention.ms': '-1',
    'cleanup.policy': 'delete',
    'segment.bytes': '1000',
    'compression.type': 'zstd',
  });
});

test.each([1, 3])(
  'run again without a word of replication, it keeps %d replicas and what follows from them',
  async (replication) => {
    const { admin, topics } = fakeCluster();
    await setup({ admin, registry, ...given, shape: { partitions: 3, replication } });
    expect(topics.flips?.settings['min.insync.replicas']).toBe(String(Math.min(2, replication)));
    delete topics.tasks;
    const { changes, notes } = await setup({ admin, registry, ...given, shape: {} });
    expect(changes).toMatchObject([{ kind: 'create-topic', topic: 'tasks', replication }]);
    expect(notes).toEqual([]);
  },
);

test('what setup has made with three replicas needs nothing more, to whoever looks', async () => {
  const { admin } = fakeCluster();
  await setup({ admin, registry, ...given, shape: { partitions: 3, replication: 3 } });
  const { plan, ...look } = await lookAtTopics(admin, given.groups);
  expect(plan).toEqual({ changes: [], refusals: [], notes: [] });
  expect(look).toMatchObject({ hidden: [], settingsSeen: true, partitions: 3 });
});

test('more replicas asked for than a topic has: told, and nothing that they would be needed for', async () => {
  const { admin, topics } = fakeCluster();
  await setup({ admin, registry, ...given });
  const { changes, notes } = await setup({ admin, registry, ...given, shape: { replication: 3 } });
  expect(changes).toEqual([]);
  expect(notes).toHaveLength(Object.keys(topics).length);
});

test('too few brokers for the replicas: refused with both numbers before anything is made', async () => {
  const { admin, topics } = fakeCluster({}, 1);
  for (const dryRun of [true, false])
    await expect(
      setup({ admin, registry, ...given, shape: { partitions: 6, replication: 3 }, dryRun }),
    ).rejects.toMatchObject({
      code: 'setup_refused',
      message: expect.stringMatching(/3 replicas .* only 1 of .* --replication 1/),
    });
  expect(topics).toEqual({});
  expect(await registry.ask('GET /subjects')).toEqual([]);
});

test('too few replicas are told of, and left', () => {
  const [wanted] = wantedTopics({ partitions: 1, replication: 3 }, []);
  if (!wanted) throw new Error('no topics');
  const settings = { ...wanted.settings, 'min.insync.replicas': '1' };
  const present = { ...wanted, replication: 1, settings, own: {} };
  expect(planTopics([wanted], [present])).toMatchObject({
    changes: [],
    notes: [expect.stringMatching(/1 replicas/)],
  });
});

test('a busy cluster makes a part of the topics and answers with an error: the rest is made, nothing twice', async () => {
  const { admin, topics } = fakeCluster();
  const made: string[] = [];
  const busy: TopicAdmin = {
    ...admin,
    createTopics: async (options) => {
      const some = made.length === 0 ? options.topics.slice(0, 2) : options.topics;
      made.push(...some.map(({ topic }) => topic));
      await admin.createTopics({ ...options, topics: some });
      if (some.length === options.topics.length) return true;
      throw Object.assign(new Error('busy'), { name: 'KafkaJSProtocolError', type: 'REQUEST_TIMED_OUT' });
    },
  };
  const { changes } = await setup({ admin: busy, registry, ...given });
  const wanted = changes.flatMap((change) => (change.kind === 'create-topic' ? [change.topic] : []));
  expect(made).toEqual(wanted);
  expect(Object.keys(topics)).toEqual(wanted);
  const refusing: TopicAdmin = { ...admin, createTopics: () => Promise.reject(new Error('not allowed')) };
  delete topics.tasks;
  await expect(setup({ admin: refusing, registry, ...given })).rejects.toThrow('not allowed');
});
