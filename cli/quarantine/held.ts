/** What the second scan withheld, as it lies in `trace.quarantine`. */
import type { Log } from '../../log/log.ts';
import type { Quarantined } from '../../schemas/generated.ts';

const BATCH = 100;

/** Every withheld event that the topic still has, oldest first in each partition. Errors: those of the log. */
export async function* heldIn(log: Log): AsyncGenerator<Quarantined> {
  const partitions = await log.partitions('trace.quarantine');
  for (let partition = 0; partition < partitions; partition++) {
    for (let next = 0; ; ) {
      const batch = await log.read('trace.quarantine', partition, next, BATCH);
      for (const { value } of batch.records) yield value;
      if (batch.nextOffset <= next || batch.nextOffset >= batch.end) break;
      next = batch.nextOffset;
    }
  }
}
