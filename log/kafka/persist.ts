import { FlipstreamError } from '../../schemas/errors.ts';
import { endsIt, pause, retryAfter } from '../running.ts';
import type { Core } from './core.ts';
import { named } from './errors.ts';

/** Does it until it is done: an outage at the start is waited out like any other. @throws FlipstreamError of kind usage or fatal, or `stopped` */
export async function persist<T>(core: Core, stopped: AbortSignal, job: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    if (stopped.aborted) throw new FlipstreamError('stopped', 'retryable', 'stopped before it began');
    try {
      return await job();
    } catch (raw) {
      const error = named(raw, core.access.brokers);
      if (endsIt(error)) throw error;
      if (failures === 5) core.warn('Kafka or its schema registry cannot be reached; trying again', error);
      await pause(retryAfter(failures), stopped);
    }
  }
}
