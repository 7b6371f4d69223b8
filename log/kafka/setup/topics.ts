/** Brings a cluster's topics to what is wanted; what cannot be mended is refused before anything is written. */
import kafkajs, { type Admin } from 'kafkajs';
import { createTopics } from './create.ts';
import { replicaSettings, type WantedTopic } from './wanted.ts';

const { ConfigResourceTypes } = kafkajs;

/** The calls of kafkajs's admin client that are made here. */
export type TopicAdmin = Pick<
  Admin,
  | 'describeCluster'
  | 'listTopics'
  | 'fetchTopicMetadata'
  | 'describeConfigs'
  | 'createTopics'
  | 'alterConfigs'
>;

export interface PresentTopic {
  topic: string;
  partitions: number;
  replication: number;
  /** Every setting in force; null when they were not looked at. */
  settings: Record<string, string> | null;
  /** Those that were set for this topic; altering a topic replaces all of them. */
  own: Record<string, string>;
}

/** One thing that setup would do, or did. */
export type Change =
  | {
      kind: 'create-topic';
      topic: string;
      partitions: number;
      replication: number;
      settings: Record<string, string>;
    }
  | { kind: 'alter-topic'; topic: string; setting: string; from: string; to: string }
  | { kind: 'set-compatibility'; subject: string; from: string | null; to: string }
  | { kind: 'register-schema'; subject: string; versions: number };

export interface Plan {
  changes: Change[];
  /** Why nothing may be written. */
  refusals: string[];
  /** What is not as it should be and is left to the operator. */
  notes: string[];
}

const TOPIC_CONFIG = 1;

/** The wanted topics that exist, without their settings. */
export async function readShapes(admin: TopicAdmin, names: readonly string[]): Promise<PresentTopic[]> {
  const listed = new Set(await admin.listTopics());
  const topics = names.filter((name) => listed.has(name));
  if (topics.length === 0) return [];
  const { topics: metadata } = await admin.fetchTopicMetadata({ topics });
  return metadata.map(({ name, partitions }) => ({
    topic: name,
    partitions: partitions.length,
    replication: Math.min(...partitions.map(({ replicas }) => replicas.length)),
    settings: null,
    own: {},
  }));
}

/** The wanted topics that exist. */
export async function readTopics(admin: TopicAdmin, names: readonly string[]): Promise<PresentTopic[]> {
  const shapes = await readShapes(admin, names);
  if (shapes.length === 0) return [];
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: shapes.map(({ topic }) => ({ type: ConfigResourceTypes.TOPIC, name: topic })),
  });
  return shapes.map((shape) => {
    const entries = resources.find(({ resourceName }) => resourceName === shape.topic)?.configEntries ?? [];
    const pairs = (all: typeof entries) =>
      Object.fromEntries(all.map(({ configName, configValue }) => [configName, configValue]));
    return {
      ...shape,
      settings: pairs(entries),
      own: pairs(entries.filter(({ configSource }) => Number(configSource) === TOPIC_CONFIG)),
    };
  });
}

/** What to change so that `present` becomes `wanted`. Records are never given up: a longer retention stays. */
export function planTopics(wanted: readonly WantedTopic[], present: readonly PresentTopic[]): Plan {
  const plan: Plan = { changes: [], refusals: [], notes: [] };
  for (const { topic, partitions, replication, settings } of wanted) {
    const there = present.find((each) => each.topic === topic);
    if (!there) {
      const all = { ...settings, ...replicaSettings(replication) };
      plan.changes.push({ kind: 'create-topic', topic, partitions, replication, settings: all });
      continue;
    }
    if (there.partitions !== partitions)
      plan.refusals.push(
        `${topic} has ${there.partitions} partitions and ${partitions} are wanted. Partition counts are the same for every topic and never change: records of one key would part`,
      );
    if (there.replication < replication)
      plan.notes.push(
        `${topic} has ${there.replication} replicas and ${replication} are wanted: reassign its partitions with Kafka's own tools`,
      );
    if (!there.settings) continue;
    const all = { ...settings, ...replicaSettings(there.replication) };
    for (const [setting, to] of Object.entries(all)) {
      const from = there.settings[setting] ?? '';
      if (from === to || (setting === 'retention.ms' && keepsLonger(from, to))) continue;
      plan.changes.push({ kind: 'alter-topic', topic, setting, from, to });
    }
  }
  return plan;
}

function keepsLonger(from: string, to: string): boolean {
  return from === '-1' || (to !== '-1' && Number(from) > Number(to));
}

/** Creates and alters; settings that others made for a topic stay. */
export async function applyTopics(
  admin: TopicAdmin,
  changes: readonly Change[],
  present: readonly PresentTopic[],
): Promise<void> {
  const topics = changes
    .filter((change) => change.kind === 'create-topic')
    .map(({ topic, partitions, replication, settings }) => ({
      topic,
      numPartitions: partitions,
      replicationFactor: replication,
      configEntries: entriesOf(settings),
    }));
  if (topics.length > 0) await createTopics(admin, topics);
  const altered = Map.groupBy(
    changes.filter((change) => change.kind === 'alter-topic'),
    ({ topic }) => topic,
  );
  const resources = [...altered].map(([topic, settings]) => {
    const own = present.find((each) => each.topic === topic)?.own ?? {};
    const merged = { ...own, ...Object.fromEntries(settings.map(({ setting, to }) => [setting, to])) };
    return { type: ConfigResourceTypes.TOPIC, name: topic, configEntries: entriesOf(merged) };
  });
  if (resources.length > 0) await admin.alterConfigs({ validateOnly: false, resources });
}

function entriesOf(settings: Record<string, string>): { name: string; value: string }[] {
  return Object.entries(settings).map(([name, value]) => ({ name, value }));
}
