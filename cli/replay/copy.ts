/** `replay`: the records that everything else is derived from, into the log of a fresh home. */
import type { Log, Outgoing } from '../../log/log.ts';
import type { TopicName } from '../../schemas/topics.ts';

/** Events that passed the second scan are taken as they are: replay never scans again (docs/design.md). */
export const REPLAYED = ['tasks', 'oracle.verdicts', 'trace.events'] as const satisfies readonly TopicName[];
export type ReplayedTopic = (typeof REPLAYED)[number];

const BATCH = 1000;

/** Records in the order in which they were published for their key. */
export type Source = AsyncIterable<readonly Outgoing<ReplayedTopic>[]>;

/** Every record that a log still keeps. */
export async function* fromLog(log: Log): Source {
  for (const topic of REPLAYED) {
    const partitions = await log.partitions(topic);
    for (let partition = 0; partition < partitions; partition += 1) {
      for (let offset = 0; ; ) {
        const batch = await log.read(topic, partition, offset, BATCH);
        if (batch.records.length > 0) yield batch.records.map(({ key, value }) => ({ topic, key, value }));
        if (batch.nextOffset >= batch.end || batch.nextOffset === offset) break;
        offset = batch.nextOffset;
      }
    }
  }
}

/** Publishes a source into a log. @returns how many records of each topic. */
export async function publishAll(
  source: Source,
  log: Log,
  onProgress: (records: number) => void,
): Promise<Record<ReplayedTopic, number>> {
  const counts: Record<ReplayedTopic, number> = { tasks: 0, 'oracle.verdicts': 0, 'trace.events': 0 };
  let total = 0;
  for await (const batch of source) {
    await log.publish(batch);
    for (const { topic } of batch) counts[topic] += 1;
    total += batch.length;
    onProgress(total);
  }
  return counts;
}
