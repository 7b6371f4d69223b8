import { countPublished } from '../counting.ts';
import { encodeRecords } from '../encode.ts';
import type { Outgoing } from '../log.ts';
import type { Encoded } from '../values.ts';
import type { Core } from './core.ts';

/** Most that one transaction writes; what waits behind it is written by the next. */
const COMMIT_BYTES = 8 * 2 ** 20;
/** Most that one record has. */
export const RECORD_BYTES = 64 * 2 ** 20;

interface Waiting {
  records: Encoded[];
  bytes: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Group commit: whatever was published while the last transaction was being synced to disk shares the next
 * one, so the cost of a sync is paid once for all of it. Order of calls is order in the log.
 */
export function createPublish(core: Core): (records: readonly Outgoing[]) => Promise<void> {
  const queue: Waiting[] = [];
  let flushing = false;
  /** Sealing takes its time; a later call must not overtake an earlier one. */
  let encoding: Promise<unknown> = Promise.resolve();

  async function flush(): Promise<void> {
    while (queue.length > 0) {
      let count = 0;
      for (let size = 0; count < queue.length && size < COMMIT_BYTES; count++)
        size += queue[count]?.bytes ?? 0;
      const group = queue.splice(0, count);
      const records = group.flatMap((one) => one.records);
      try {
        await core.transact(() => core.append(records));
        core.wake.ring();
        countPublished(core.counters, records);
        for (const one of group) one.resolve();
      } catch (error) {
        for (const one of group) one.reject(error);
      }
    }
    flushing = false;
  }

  return async (records) => {
    if (records.length === 0) return;
    const mine = encoding.then(() => encodeAll(core, records));
    encoding = mine.catch(() => undefined);
    const encoded = await mine;
    await new Promise<void>((resolve, reject) => {
      const bytes = encoded.reduce((sum, { value }) => sum + value.length, 0);
      queue.push({ records: encoded, bytes, resolve, reject });
      if (flushing) return;
      flushing = true;
      setImmediate(flush);
    });
  };
}

/** @throws as `encodeRecords` */
export function encodeAll({ catalog, seal }: Core, records: readonly Outgoing[]): Promise<Encoded[]> {
  return encodeRecords(records, { ids: catalog.schemas, seal, most: RECORD_BYTES });
}
