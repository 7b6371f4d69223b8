/** What the second scan withheld, as it lies in `trace.quarantine`. */
import { breathing } from '../../log/breathing.ts';
import type { Log } from '../../log/log.ts';
import type { Quarantined } from '../../schemas/generated.ts';

const BATCH = 100;

/**
 * Every withheld event that the topic still has, oldest first in each partition. Errors: those of the log.
 * @param progress told how many were read so far
 */
export async function* heldIn(log: Log, progress: (events: number) => void): AsyncGenerator<Quarantined> {
  const breathe = breathing();
  let count = 0;
  const partitions = await log.partitions('trace.quarantine');
  for (let partition = 0; partition < partitions; partition++) {
    for (let next = 0; ; ) {
      await breathe();
      const batch = await log.read('trace.quarantine', partition, next, BATCH);
      count += batch.records.length;
      progress(count);
      for (const { value } of batch.records) yield value;
      if (batch.nextOffset <= next || batch.nextOffset >= batch.end) break;
      next = batch.nextOffset;
    }
  }
}
