/** The cluster that a command works on, and the groups whose topics and rights it looks after. */
import type { Admin } from 'kafkajs';
import type { KafkaSettings } from '../../log/kafka/settings.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { createJoin } from '../../streams/join/join.ts';
import { createBucketMetrics } from '../../streams/metrics/bucket.ts';
import { createSessionMetrics } from '../../streams/metrics/session.ts';
import { createRedact } from '../../streams/redact/redact.ts';
import { engineOf } from '../engine.ts';
import type { LogPlace } from '../open-log.ts';

/** Groups of the reducers that `up` runs; each keeps its state in a topic of its own. */
export const REDUCER_GROUPS: readonly string[] = [
  createRedact(),
  createJoin({ keyRing: { v: 1, keys: [] } }),
  createSessionMetrics(),
  createBucketMetrics(),
].map(({ group }) => group);

/** @throws FlipstreamError `not_kafka` (usage) */
export function requireKafka({ home, engine }: LogPlace): KafkaSettings {
  // A command about Kafka means Kafka, unless the home says that it is something else.
  const found = engineOf({ home, engine: { ...engine, engine: engine.engine ?? 'kafka' } });
  if (found.kind === 'kafka') return found.kafka;
  throw new FlipstreamError('not_kafka', 'usage', 'This is about Kafka: leave out --engine embedded.');
}

/** @throws FlipstreamError of log/kafka/errors.ts */
export async function withAdmin<T>(kafka: KafkaSettings, work: (admin: Admin) => Promise<T>): Promise<T> {
  // Loaded only where it is used: it would double the time in which a command starts.
  const [{ createClient }, { named }] = await Promise.all([
    import('../../log/kafka/client.ts'),
    import('../../log/kafka/errors.ts'),
  ]);
  const admin = createClient(kafka).admin();
  try {
    await admin.connect();
    return await work(admin);
  } catch (error) {
    throw named(error, kafka.brokers);
  } finally {
    await admin.disconnect();
  }
}
