import type { Admin } from 'kafkajs';
import { until } from '../../log/conformance/rig.ts';

/** Topics and groups of the brokers, and of a registry that keeps its schemas there. */
const NOT_OURS = /^(_|schema-registry|karapace-)/;

/** Deletes every topic and group of ours. */
export async function sweep(admin: Admin): Promise<void> {
  const ours = async () => (await admin.listTopics()).filter((topic) => !NOT_OURS.test(topic));
  const topics = await ours();
  if (topics.length > 0) await admin.deleteTopics({ topics });
  await until(async () => (await ours()).length === 0);
  const { groups } = await admin.listGroups();
  // A member that was killed counts as one until its session has ended.
  const consumers = groups.map(({ groupId }) => groupId).filter((group) => !NOT_OURS.test(group));
  await until(() => admin.deleteGroups(consumers).then(yes, no));
}

const yes = () => true;
const no = () => false;
