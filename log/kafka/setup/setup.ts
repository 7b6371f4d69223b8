/** `flipstream kafka setup`: a deploy step that makes topics and schemas, so that nothing does at run time. */
import { FlipstreamError } from '../../../schemas/errors.ts';
import type { RegistryAddress } from '../registry/rest.ts';
import { applySchemas, planSchemas } from './schemas.ts';
import {
  applyTopics,
  type Change,
  type PresentTopic,
  planTopics,
  readTopics,
  type TopicAdmin,
} from './topics.ts';
import { type Shape, wantedTopics } from './wanted.ts';

export interface SetupOptions {
  /** Connected. */
  admin: TopicAdmin;
  registry: RegistryAddress;
  /** Groups of the reducers. */
  groups: readonly string[];
  /** What is not given is as the topics that are there have it, else as `DEFAULT_SHAPE`. */
  shape: Partial<Shape>;
  /** Only says what it would do. */
  dryRun: boolean;
}

export interface SetupResult {
  partitions: number;
  changes: Change[];
  notes: string[];
}

const DEFAULT_SHAPE: Shape = { partitions: 6, replication: 3 };

/**
 * Looks at everything first, then changes what is missing. Running it again changes nothing.
 * @throws FlipstreamError `setup_refused` (usage) before anything is written: a wrong partition count, too few
 * brokers, an incompatible schema; `schema_refused` (usage), `registry_unavailable` (retryable).
 */
export async function setup({ admin, registry, groups, shape, dryRun }: SetupOptions): Promise<SetupResult> {
  const names = wantedTopics({ partitions: 1, replication: 1 }, groups).map(({ topic }) => topic);
  const present = await readTopics(admin, names);
  const wanted = shapeOf(shape, present);
  const { partitions } = wanted;
  const topics = planTopics(wantedTopics(wanted, groups), present);
  const schemas = await planSchemas(registry);
  const refusals = [...topics.refusals, ...(await tooFewBrokers(admin, topics.changes)), ...schemas.refusals];
  if (refusals.length > 0)
    throw new FlipstreamError(
      'setup_refused',
      'usage',
      `nothing was changed:\n${refusals.map((why) => `- ${why}`).join('\n')}`,
    );
  if (!dryRun) {
    await applyTopics(admin, topics.changes, present);
    await applySchemas(registry, schemas.changes);
  }
  return { partitions, changes: [...topics.changes, ...schemas.changes], notes: topics.notes };
}

/** One topic may have fewer replicas than the others by an oversight: a new one is made as the best of them. */
export function shapeOf(given: Partial<Shape>, present: readonly PresentTopic[]): Shape {
  const there = present.map(({ replication }) => replication);
  return {
    partitions: given.partitions ?? present[0]?.partitions ?? DEFAULT_SHAPE.partitions,
    replication: given.replication ?? (there.length > 0 ? Math.max(...there) : DEFAULT_SHAPE.replication),
  };
}

/** Brokers would refuse it too, topic by topic, and without a number. */
async function tooFewBrokers(admin: TopicAdmin, changes: readonly Change[]): Promise<string[]> {
  const replicas = changes.map((change) => (change.kind === 'create-topic' ? change.replication : 0));
  const most = Math.max(0, ...replicas);
  if (most === 0) return [];
  const { brokers } = await admin.describeCluster();
  if (brokers.length >= most) return [];
  return [
    `${most} replicas of each partition are wanted and only ${brokers.length} of the cluster's brokers ${brokers.length === 1 ? 'answers' : 'answer'}: start more, or give --replication ${brokers.length}`,
  ];
}
