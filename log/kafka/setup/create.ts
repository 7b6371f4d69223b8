import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin, ITopicConfig } from 'kafkajs';
import { FlipstreamError } from '../../../schemas/errors.ts';
import { kafkaCode } from '../errors.ts';

type CreateAdmin = Pick<Admin, 'listTopics' | 'fetchTopicMetadata' | 'createTopics'>;

const BROKER_MS = 30_000;
const PATIENCE_MS = 90_000;
const PAUSE_MS = 100;

/** What a busy cluster says of topics that it is just making, or has made although it did not answer in time. */
const PASSES: ReadonlySet<string | null> = new Set([
  'TOPIC_ALREADY_EXISTS',
  'REQUEST_TIMED_OUT',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_CONTROLLER',
]);

/**
 * Makes topics and waits until each partition has a leader; what was made before a failure is not made twice.
 * @throws FlipstreamError `kafka_unavailable` (retryable) when they do not come; then run it again. Else what the
 * brokers refuse
 */
export async function createTopics(admin: CreateAdmin, topics: readonly ITopicConfig[]): Promise<void> {
  const names = topics.map(({ topic }) => topic);
  for (const until = performance.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    try {
      const listed = new Set(await admin.listTopics());
      const missing = topics.filter(({ topic }) => !listed.has(topic));
      if (missing.length > 0)
        await admin.createTopics({ topics: missing, waitForLeaders: false, timeout: BROKER_MS });
      if (await lead(admin, names)) return;
    } catch (error) {
      if (!passes(error)) throw error;
    }
    if (performance.now() > until)
      throw new FlipstreamError(
        'kafka_unavailable',
        'retryable',
        `the topics ${names.join(', ')} are not all there after ${PATIENCE_MS / 1000} s: see that every broker runs, and run it again, which goes on where this ended`,
      );
  }
}

async function lead(admin: CreateAdmin, names: readonly string[]): Promise<boolean> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
  return (
    topics.length === names.length &&
    topics.every(({ partitions }) => partitions.length > 0 && partitions.every(({ leader }) => leader >= 0))
  );
}

/** One error for each topic, or one for the request. */
function passes(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.every(passes);
  return PASSES.has(kafkaCode(error)) || ('retriable' in error && error.retriable === true);
}
