/** What a user who may not see everything can tell of the topics. */
import { kafkaCode } from '../errors.ts';
import { shapeOf } from './setup.ts';
import { type Plan, planTopics, readShapes, readTopics, type TopicAdmin } from './topics.ts';
import { wantedTopics } from './wanted.ts';

export interface Look {
  /** Topics that this user may see, there or not. */
  seen: string[];
  /** Those that it may not. */
  hidden: string[];
  /** Whether it may see how the topics are set, too. */
  settingsSeen: boolean;
  partitions: number;
  /** What is not as this release needs it, of what was seen. */
  plan: Plan;
}

/** Looks at topics as `setup` would, as far as this user may. @param groups of the reducers */
export async function lookAtTopics(admin: TopicAdmin, groups: readonly string[]): Promise<Look> {
  const names = wantedTopics({ partitions: 1, replication: 1 }, groups).map(({ topic }) => topic);
  const hidden = await hiddenOf(admin, names);
  const seen = names.filter((name) => !hidden.includes(name));
  let settingsSeen = true;
  const present = await readTopics(admin, seen).catch((error) => {
    if (!isDenied(error)) throw error;
    settingsSeen = false;
    return readShapes(admin, seen);
  });
  const shape = shapeOf({}, present);
  const wanted = wantedTopics(shape, groups).filter(({ topic }) => seen.includes(topic));
  return { seen, hidden, settingsSeen, partitions: shape.partitions, plan: planTopics(wanted, present) };
}

/** A topic that is not listed is not there, or this user may not see it: asked for by name, a broker says which. */
async function hiddenOf(admin: TopicAdmin, names: readonly string[]): Promise<string[]> {
  const listed = new Set(await admin.listTopics());
  const asked = names
    .filter((name) => !listed.has(name))
    .map(async (name) => {
      const denied = await admin.fetchTopicMetadata({ topics: [name] }).then(() => false, isDenied);
      return denied ? [name] : [];
    });
  return (await Promise.all(asked)).flat();
}

function isDenied(error: unknown): boolean {
  return kafkaCode(error) === 'TOPIC_AUTHORIZATION_FAILED';
}
