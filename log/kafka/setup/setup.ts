/** `flipstream kafka setup`: a deploy step that makes topics and schemas, so that nothing does at run time. */
import { FlipstreamError } from '../../../schemas/errors.ts';
import type { RegistryAddress } from '../registry/rest.ts';
import { applySchemas, planSchemas } from './schemas.ts';
import { applyTopics, type Change, planTopics, readTopics, type TopicAdmin } from './topics.ts';
import { type Shape, wantedTopics } from './wanted.ts';

export interface SetupOptions {
  /** Connected. */
  admin: TopicAdmin;
  registry: RegistryAddress;
  /** Groups of the reducers. */
  groups: readonly string[];
  /** Partitions that are not given are those of the topics there are, else `DEFAULT_PARTITIONS`. */
  shape: { partitions?: number | undefined; replication: number };
  /** Only says what it would do. */
  dryRun: boolean;
}

export interface SetupResult {
  partitions: number;
  changes: Change[];
  notes: string[];
}

const DEFAULT_PARTITIONS = 6;

/**
 * Looks at everything first, then changes what is missing. Running it again changes nothing.
 * @throws FlipstreamError `setup_refused` (usage) before anything is written: a wrong partition count, an incompatible
 * schema; `schema_refused` (usage), `registry_unavailable` (retryable).
 */
export async function setup({ admin, registry, groups, shape, dryRun }: SetupOptions): Promise<SetupResult> {
  const names = wantedTopics({ partitions: 1, replication: 1 }, groups).map(({ topic }) => topic);
  const present = await readTopics(admin, names);
  const partitions = shape.partitions ?? present[0]?.partitions ?? DEFAULT_PARTITIONS;
  const wanted: Shape = { partitions, replication: shape.replication };
  const topics = planTopics(wantedTopics(wanted, groups), present);
  const schemas = await planSchemas(registry);
  const refusals = [...topics.refusals, ...schemas.refusals];
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
