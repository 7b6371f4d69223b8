/** The topics that the pipeline needs on a cluster, from schemas/topics.ts. */
import { TOPIC_NAMES, TOPICS, type TopicSpec } from '../../../schemas/topics.ts';

/** How the topics are laid out; the same for every topic, since partition p of one is joined with p of another. */
export interface Shape {
  partitions: number;
  replication: number;
}

export interface WantedTopic extends Shape {
  topic: string;
  /** Kafka's own names and values of topic settings, but those of `replicaSettings`. */
  settings: Record<string, string>;
}

/** Of one batch on the wire; single records of ours are half as large at most. */
const MOST_BYTES = 16 * 2 ** 20;
const DAY_MS = 86_400_000;

/** The changelog of a reducer's state. */
export function stateTopic(group: string): string {
  return `${group}.state`;
}

/** @param groups of the reducers, each of which has a changelog. */
export function wantedTopics(shape: Shape, groups: readonly string[]): WantedTopic[] {
  const changelog: Pick<TopicSpec, 'cleanup' | 'retentionDays'> = { cleanup: 'compact', retentionDays: null };
  const specs = [
    ...TOPIC_NAMES.map((topic) => [topic, TOPICS[topic]] as const),
    ...groups.map((group) => [stateTopic(group), changelog] as const),
  ];
  return specs.map(([topic, spec]) => ({ topic, ...shape, settings: settingsOf(spec) }));
}

/** Settings that follow from how many replicas a topic has. */
export function replicaSettings(replication: number): Record<string, string> {
  // One replica may be away; a record is acknowledged by two before its spool entry goes.
  return { 'min.insync.replicas': String(Math.min(2, replication)) };
}

function settingsOf({
  cleanup,
  retentionDays,
}: Pick<TopicSpec, 'cleanup' | 'retentionDays'>): Record<string, string> {
  return {
    'cleanup.policy': cleanup,
    'retention.ms': retentionDays === null ? '-1' : String(retentionDays * DAY_MS),
    'max.message.bytes': String(MOST_BYTES),
    // Whatever a producer compresses with, what is read is compressed so.
    'compression.type': 'zstd',
    // Retention and delays go by when the broker took a record, not by a host's clock.
    'message.timestamp.type': 'LogAppendTime',
  };
}
